import type { AttributesOf, CounterName, GaugeName, HistogramName } from './metric-catalogue.ts';

/** One value of a gauge at the moment it is asked for. */
export interface Observation<Name extends GaugeName> {
  readonly value: number;
  readonly attributes?: AttributesOf<Name>;
}

/**
 * Where services and adapters leave what they measure. Names, units and attributes are those of the catalogue. Nothing
 * throws, nothing waits; without telemetry every call is empty.
 */
export interface Metrics {
  /** Grows a counter. */
  add<Name extends CounterName>(name: Name, by: number, attributes?: AttributesOf<Name>): void;
  /** Adds one value to a distribution. */
  record<Name extends HistogramName>(name: Name, value: number, attributes?: AttributesOf<Name>): void;
  /** Says what a gauge shows from now on: for whoever measures at his own pace. */
  set<Name extends GaugeName>(name: Name, value: number, attributes?: AttributesOf<Name>): void;
  /**
   * Asked whenever metrics are collected (once a minute, or when Prometheus comes): for what costs something to find out.
   * A failure is reported. What is not told shows what it was told last: say 0 where there is none left.
   * @returns ends the observation.
   */
  observe<Name extends GaugeName>(name: Name, read: () => Promise<readonly Observation<Name>[]>): () => void;
  /** False when nobody collects: for what costs something to find out. */
  readonly enabled: boolean;
}

const nothing = (): void => undefined;

/** Without telemetry. */
export const noMetrics: Metrics = {
  add: nothing,
  record: nothing,
  set: nothing,
  observe: () => nothing,
  enabled: false,
};

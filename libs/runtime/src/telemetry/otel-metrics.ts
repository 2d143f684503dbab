import type { Counter, Gauge, Histogram, Meter, ObservableResult } from '@opentelemetry/api';
import { METRIC_CATALOGUE, type MetricDefinition, type MetricName } from './metric-catalogue.ts';
import type { Metrics } from './metrics.ts';

/** Told of gauges that could not be read. */
export type ReportMetric = (name: string, error: unknown) => void;

const optionsOf = (name: MetricName) => {
  const { unit, about, buckets }: MetricDefinition = METRIC_CATALOGUE[name];
  return {
    unit,
    description: about,
    ...(buckets === undefined ? {} : { advice: { explicitBucketBoundaries: [...buckets] } }),
  };
};

/** The port over a meter; an instrument is made when it is first used. */
export const otelMetrics = (meter: Meter, report: ReportMetric): Metrics => {
  const counters = kept<Counter>((name) => meter.createCounter(name, optionsOf(name)));
  const gauges = kept<Gauge>((name) => meter.createGauge(name, optionsOf(name)));
  const histograms = kept<Histogram>((name) => meter.createHistogram(name, optionsOf(name)));
  return {
    enabled: true,
    add: (name, by, attributes) => counters(name).add(by, attributes),
    record: (name, value, attributes) => histograms(name).record(value, attributes),
    set: (name, value, attributes) => gauges(name).record(value, attributes),
    observe: (name, read) => {
      const gauge = meter.createObservableGauge(name, optionsOf(name));
      const ask = async (result: ObservableResult): Promise<void> => {
        try {
          for (const { value, attributes } of await read()) result.observe(value, attributes);
        } catch (error) {
          report(name, error);
        }
      };
      gauge.addCallback(ask);
      return () => gauge.removeCallback(ask);
    },
  };
};

const kept = <Instrument>(make: (name: MetricName) => Instrument): ((name: MetricName) => Instrument) => {
  const made = new Map<MetricName, Instrument>();
  return (name) => {
    const known = made.get(name);
    if (known !== undefined) return known;
    const instrument = make(name);
    made.set(name, instrument);
    return instrument;
  };
};

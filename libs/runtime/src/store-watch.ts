import type { Clock } from '@fixpoint/contracts/clock';
import type { EventStore } from '@fixpoint/event-store/event-store';
import { type ReaderPosition, readerPositions } from '@fixpoint/event-store/reader-positions';
import type { Provider } from '@nestjs/common';
import type { Pool } from 'pg';
import { HealthCheck } from './health.ts';
import { ALARM_AFTER_MS, CLOCK, EVENT_STORE, LOG, METRICS, POOL } from './infrastructure.ts';
import type { Log } from './log.ts';
import { type Loop, loop } from './loop.ts';
import {
  NO_MEMORY,
  remembered,
  type StoreAlarm,
  type StoreMemory,
  storeAlarms,
  watermarkAgeMs,
} from './store-alarms.ts';
import type { Metrics } from './telemetry/metrics.ts';

export interface StoreWatchOptions {
  readonly store: Pick<EventStore, 'watermark'>;
  /** Of the readers to watch. */
  readonly positions: () => Promise<readonly ReaderPosition[]>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** For how long the watermark or a reader may stand still, ms. */
  readonly alarmMs: number;
}

/** Between two measures: an alarm comes at most a fifth late. */
const pollMsOf = (alarmMs: number): number => Math.min(Math.max(alarmMs / 5, 20), 2_000);

/** An alarm that goes on is logged again. */
const REPEAT_MS = 60_000;

/** Looks after what a service can not see by itself: that nothing new is shown to it, or that a reader of its has died. */
export class StoreWatch {
  readonly health: HealthCheck;
  readonly #options: StoreWatchOptions;
  #memory: StoreMemory = NO_MEMORY;
  #alarms: readonly StoreAlarm[] = [];
  #measuredAtMs: number;
  /** When each alarm that is on was logged. */
  #logged: ReadonlyMap<string, number> = new Map();

  /** @param name of the service. */
  constructor(name: string, options: StoreWatchOptions) {
    this.#options = options;
    this.#measuredAtMs = options.clock.monotonicMs();
    this.health = new HealthCheck(`log of ${name}`, () => this.#check());
  }

  /** Measures once and waits until it is time again. For a loop. */
  async step(signal: AbortSignal): Promise<void> {
    await this.measure();
    await this.#options.clock.sleep(pollMsOf(this.#options.alarmMs), signal);
  }

  async measure(): Promise<void> {
    const { store, positions, clock, metrics, alarmMs } = this.#options;
    const measure = { watermark: await store.watermark(), positions: await positions(), atMs: clock.monotonicMs() };
    this.#memory = remembered(this.#memory, measure);
    this.#alarms = storeAlarms(this.#memory, measure, alarmMs);
    this.#measuredAtMs = measure.atMs;
    metrics.set('fixpoint.store.watermark.age', watermarkAgeMs(this.#memory, measure) / 1000);
    this.#tell(measure.atMs);
  }

  /** A watch that has died itself would call everything well. */
  #check(): void {
    const { clock, alarmMs } = this.#options;
    const silentMs = clock.monotonicMs() - this.#measuredAtMs;
    const unmeasured = silentMs > alarmMs + pollMsOf(alarmMs) ? [`not measured for ${Math.round(silentMs)} ms`] : [];
    const complaints = [...unmeasured, ...this.#alarms.map(({ text }) => text)];
    if (complaints.length > 0) throw new Error(complaints.join('; '));
  }

  #tell(atMs: number): void {
    const { log } = this.#options;
    const logged = this.#alarms.map(({ about, text }) => {
      const last = this.#logged.get(about);
      const isDue = last === undefined || atMs - last >= REPEAT_MS;
      if (isDue) log.error({ about }, text);
      return [about, isDue ? atMs : last] as const;
    });
    const over = [...this.#logged.keys()].filter((about) => !this.#alarms.some((alarm) => alarm.about === about));
    for (const about of over) log.info({ about }, 'moves again');
    this.#logged = new Map(logged);
  }
}

/** Names of readers that a service has only where the provider of this token is not null. */
export type OptionalReaders = Readonly<Record<string, symbol>>;

type Watched = [EventStore, Pool | null, Clock, Log, Metrics, number, ...unknown[]];

/**
 * Providers of a service that reads the log by cursor: readiness fails and the log says why, naming the session at fault,
 * when the watermark or one of these readers stands still.
 * @param service its name; @param readers names of what has a checkpoint
 */
export const storeWatch = (service: string, readers: readonly string[], optional: OptionalReaders = {}): Provider[] => {
  const watch = `${service}__store_watch`;
  const optionalNames = Object.keys(optional);
  return [
    {
      provide: watch,
      inject: [EVENT_STORE, POOL, CLOCK, LOG, METRICS, ALARM_AFTER_MS, ...Object.values(optional)],
      useFactory: (...[store, pool, clock, log, metrics, alarmMs, ...present]: Watched) => {
        const names = [...readers, ...optionalNames.filter((_, index) => present[index] !== null)];
        const positions = async () => (pool === null ? [] : readerPositions(pool, names));
        return new StoreWatch(service, { store, positions, clock, log, metrics, alarmMs });
      },
    },
    { provide: `${watch}_health`, inject: [watch], useFactory: ({ health }: StoreWatch): HealthCheck => health },
    {
      provide: `${watch}_loop`,
      inject: [watch, CLOCK, LOG],
      useFactory: (each: StoreWatch, clock: Clock, log: Log): Loop =>
        loop(watch, (signal) => each.step(signal), { clock, log }),
    },
  ];
};

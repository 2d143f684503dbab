import type { Clock, Ids } from '@fixpoint/contracts/clock';
import type { Artifacts } from '@fixpoint/event-store/artifacts';
import type { EventStore } from '@fixpoint/event-store/event-store';
import type { Bus } from '@fixpoint/messaging/bus';
import type { Feed } from '@fixpoint/messaging/feed';
import type { Ingest } from '@fixpoint/messaging/ingest';
import { type Publisher, publisher } from '@fixpoint/messaging/publisher';
import type { DynamicModule } from '@nestjs/common';
import type { Pool } from 'pg';
import type { Log } from './log.ts';
import { type Metrics, noMetrics } from './telemetry/metrics.ts';
import type { Telemetry } from './telemetry/telemetry.ts';

/** {@link EventStore} */
export const EVENT_STORE = Symbol('EVENT_STORE');
/** {@link Bus} */
export const BUS = Symbol('BUS');
/** {@link Feed}, or null where nobody outside of the process could hear it. */
export const FEED = Symbol('FEED');
/** {@link Ingest}, or null where nobody outside of the process could send anything. */
export const INGEST = Symbol('INGEST');
/** {@link Publisher}: publishes after commit without being awaited. */
export const PUBLISHER = Symbol('PUBLISHER');
/** {@link Artifacts} */
export const ARTIFACTS = Symbol('ARTIFACTS');
/** {@link Clock} */
export const CLOCK = Symbol('CLOCK');
/** {@link Ids} */
export const IDS = Symbol('IDS');
/** {@link Pool} of pg, or null where everything is in memory. */
export const POOL = Symbol('POOL');
/** {@link Log} */
export const LOG = Symbol('LOG');
/** {@link Metrics} */
export const METRICS = Symbol('METRICS');
/** {@link Telemetry}, or null without it: to wrap adapters that only one service has. */
export const TELEMETRY = Symbol('TELEMETRY');
/** {@link Infrastructure.alarmAfterMs} */
export const ALARM_AFTER_MS = Symbol('ALARM_AFTER_MS');

/** What a process is built on: made once, shared by all services in it. */
export interface Infrastructure {
  readonly store: EventStore;
  readonly bus: Bus;
  /** Left out or null: nobody outside of this process could hear it. */
  readonly feed?: Feed | null;
  /** The same of what producers send. */
  readonly ingest?: Ingest | null;
  readonly artifacts: Artifacts;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly pool: Pool | null;
  readonly log: Log;
  /** Left out: nobody measures. */
  readonly metrics?: Metrics;
  /** Null or left out: none. */
  readonly telemetry?: Telemetry | null;
  /** For how long the watermark of the store, or a reader of it, may stand still before that is an alarm, ms. Default 10,000. */
  readonly alarmAfterMs?: number;
  /** Closes bus, pools and the like; called last, when all services have stopped. */
  readonly release: () => Promise<void>;
}

const RELEASE = Symbol('RELEASE');

class InfrastructureModule {}

/** Nest calls these hooks on the value itself. */
const lifecycle = (published: Publisher, release: () => Promise<void>) => ({
  beforeApplicationShutdown: () => published.settled(),
  onApplicationShutdown: release,
});

/**
 * Gives every service of a process the same instances. Call it once and pass the same object to each service's module:
 * Nest tells dynamic modules apart by identity.
 */
export const infrastructureModule = (infrastructure: Infrastructure): DynamicModule => {
  const { log, telemetry = null, metrics = telemetry?.metrics ?? noMetrics } = infrastructure;
  const published = publisher(infrastructure.bus, (error, lost) => {
    metrics.add('fixpoint.bus.publish.lost', lost.length);
    log.warn(
      { err: error, events: lost.length },
      'events were not published; they are stored and will be offered again',
    );
  });
  const values = [
    [EVENT_STORE, infrastructure.store],
    [BUS, infrastructure.bus],
    [FEED, infrastructure.feed ?? null],
    [INGEST, infrastructure.ingest ?? null],
    [PUBLISHER, published],
    [ARTIFACTS, infrastructure.artifacts],
    [CLOCK, infrastructure.clock],
    [IDS, infrastructure.ids],
    [POOL, infrastructure.pool],
    [LOG, log],
    [METRICS, metrics],
    [TELEMETRY, telemetry],
    [ALARM_AFTER_MS, infrastructure.alarmAfterMs ?? 10_000],
  ] as const;
  return {
    module: InfrastructureModule,
    providers: [
      ...values.map(([provide, useValue]) => ({ provide, useValue })),
      { provide: RELEASE, useValue: lifecycle(published, infrastructure.release) },
    ],
    exports: values.map(([token]) => token),
  };
};

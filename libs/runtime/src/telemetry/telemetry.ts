import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import type { EventStore } from '@fixpoint/event-store/event-store';
import type { Runner } from '@fixpoint/execution/runner';
import type { Bus } from '@fixpoint/messaging/bus';
import type { FastifyInstance } from 'fastify';
import type { Log } from '../log.ts';
import type { Metrics } from './metrics.ts';

/**
 * Telemetry of a process that was asked for it. It wraps adapters from outside: a process without it has the bare ones,
 * and pays nothing. Nothing of it ever throws or waits for a collector, but `stop`.
 */
export interface Telemetry {
  readonly metrics: Metrics;
  /** Opens a span per append and leaves its context in the events' metadata. */
  store(store: EventStore): EventStore;
  /** Opens a span per event that goes out or comes in. @param system `nats` or `memory` */
  bus(bus: Bus, system: string): Bus;
  /** Opens a span per command. */
  runner(runner: Runner): Runner;
  /** Opens a span per request; before any other hook. */
  http(fastify: FastifyInstance): void;
  /** Opens a span per lineage in a page of events while it is projected. */
  project(projection: string, events: readonly RecordedEvent[], apply: () => Promise<void>): Promise<void>;
  /** `trace_id`, `span_id` and `trace_flags` for a log record with these fields. */
  logFields(fields: object): object;
  /** Where trouble with the collector is told, at most once a minute. */
  reportTo(log: Pick<Log, 'warn'>): void;
  /** Sends what is left and ends; resolves after `withinMs` at the latest. */
  stop(withinMs: number): Promise<void>;
}

import type { Changes } from '@fixpoint/event-store/changes';
import type { AuditDb } from '../projections/row-table.ts';
import { eventsAfter, type WireEvent } from './events.ts';

export interface EventStreamSource {
  readonly db: AuditDb;
  /** Announced whenever this process moved the read model. */
  readonly changes: Changes;
}

export interface EventStreamStart {
  readonly lineage: string;
  /** Token of the event to go on after. */
  readonly since: string;
}

/** Events that are in memory at once for one reader, who may be slow. */
const PAGE = 100;
/** Another replica may be the one that moves the read model. */
const LOOK_MS = 250;
/** Proxies close connections on which nothing moves. */
const LOOKS_PER_HEARTBEAT = 60;

/**
 * Events of a lineage as server-sent events, those that are there and then those that come, until the signal aborts.
 * The id of each is its cursor, so that a reader that reconnects goes on where it was. Nothing is read ahead of the
 * reader: it asks for the next piece when it has taken the last one.
 */
export async function* eventStream(
  source: EventStreamSource,
  start: EventStreamStart,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const at = { ...start };
  let idle = 0;
  yield 'retry: 1000\n\n';
  while (!signal.aborted) {
    const events = await eventsAfter(source.db, at, PAGE);
    at.since = events.at(-1)?.cursor ?? at.since;
    idle = events.length === 0 ? idle + 1 : 0;
    if (events.length > 0) yield events.map(frame).join('');
    else await source.changes.next(LOOK_MS, signal);
    if (idle > 0 && idle % LOOKS_PER_HEARTBEAT === 0) yield ': nothing happened\n\n';
  }
}

/** JSON has no line ends, so one `data` line carries an event. */
const frame = ({ cursor, json }: WireEvent): string => `id: ${cursor}\ndata: ${json}\n\n`;

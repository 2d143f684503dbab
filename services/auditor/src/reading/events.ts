import type { Cursor } from '@fixpoint/contracts/envelope';
import type { EventsQuery } from '@fixpoint/contracts/rest/audit-queries';
import { cursorToken, parseCursorToken } from '@fixpoint/contracts/rest/cursor-token';
import { sql } from 'kysely';
import type { AuditDb } from '../projections/row-table.ts';
import { type Condition, CursorInvalid, equals, whereAll } from './page.ts';

/** An event for the wire: its JSON with `data` and `metadata` byte for byte as they are stored. */
export interface WireEvent {
  readonly json: string;
  readonly type: string;
  /** Token of its cursor. */
  readonly cursor: string;
}

interface StoredRow extends Cursor {
  readonly id: string;
  readonly root: string;
  readonly stream: string;
  readonly version: number;
  readonly type: string;
  readonly schema_version: number;
  readonly occurred_at: string;
  readonly hash: string;
  readonly metadata: string;
  readonly data: string;
}

/** @returns a page as JSON text, in the order of the store. @throws {CursorInvalid} */
export const eventPage = async (db: AuditDb, query: EventsQuery): Promise<string> => {
  const { lineage, project, task, type, status, limit } = query;
  const after = [query.since, query.cursor].flatMap((token) => (token === undefined ? [] : [token]));
  const conditions = [...equals({ lineage, project, task, type, status }), ...after.map(beyond)];
  const events = await readEvents(db, conditions, limit + 1);
  const items = events.slice(0, limit);
  const next = events.length > limit ? (items.at(-1)?.cursor ?? null) : null;
  return `{"items":[${items.map(({ json }) => json).join(',')}],"next":${JSON.stringify(next)}}`;
};

/** Events of a lineage after a place in the store, at most `limit`. */
export const eventsAfter = (
  db: AuditDb,
  { lineage, since }: { readonly lineage: string; readonly since: string },
  limit: number,
): Promise<readonly WireEvent[]> => readEvents(db, [...equals({ lineage }), beyond(since)], limit);

const beyond = (token: string): Condition => {
  const cursor = parseCursorToken(token);
  if (!cursor) throw new CursorInvalid('cursor_invalid');
  const { epoch, xid, position } = cursor;
  return sql`(epoch, xid, position) > (${epoch}::int, ${xid}::xid8, ${position}::bigint)`;
};

const COLUMNS = sql`e.epoch, e.xid, e.position, e.id, e.root, e.stream, e.version, e.type, e.schema_version,
  e.occurred_at, encode(e.hash, 'hex') as hash, e.metadata::text as metadata, e.data::text as data`;

/** Few events of the log, found by what it has an index for: stream or id. In the order of the store. */
export const storedEvents = async (db: AuditDb, condition: Condition): Promise<readonly WireEvent[]> => {
  const { rows } = await sql<StoredRow>`
    select ${COLUMNS} from store.event e where ${condition} order by e.epoch, e.xid, e.position`.execute(db);
  return rows.map(wireEvent);
};

/** The page is found by the narrow rows; only its own events are then fetched from the log. */
const readEvents = async (
  db: AuditDb,
  conditions: readonly Condition[],
  limit: number,
): Promise<readonly WireEvent[]> => {
  const { rows } = await sql<StoredRow>`
    select ${COLUMNS} from (
      select epoch, xid, position from audit.event ${whereAll(conditions)} order by epoch, xid, position limit ${limit}
    ) page
    join store.event e using (epoch, xid, position)
    order by e.epoch, e.xid, e.position`.execute(db);
  return rows.map(wireEvent);
};

const wireEvent = ({ epoch, xid, position, metadata, data, ...rest }: StoredRow): WireEvent => {
  const cursor = { epoch, xid, position };
  const head = JSON.stringify({ ...rest, cursor }).slice(0, -1);
  return { json: `${head},"metadata":${metadata},"data":${data}}`, type: rest.type, cursor: cursorToken(cursor) };
};

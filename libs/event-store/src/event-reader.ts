import type { Cursor, RecordedEvent } from '@fixpoint/contracts/envelope';
import { currentEvent } from '@fixpoint/contracts/events/current-event';
import type { Pool, QueryResultRow } from 'pg';
import type { Page } from './event-store.ts';
import { postgresFault } from './postgres-fault.ts';
import { readWatermark } from './read-watermark.ts';
import type { Watermark } from './watermark.ts';

interface EventRow extends Omit<RecordedEvent, 'cursor' | 'hash'>, Cursor {
  readonly hash: Buffer;
}

const COLUMNS = `epoch, xid, position, stream, version, root, type, schema_version, id, occurred_at, metadata, data, hash`;

const READ_STREAMS = `select ${COLUMNS} from store.event where stream = any($1) and version between $2 and $3 order by stream, version`;

/** What is no uuid is the id of nothing; the cast alone would fail on it. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const FIND = `select ${COLUMNS} from store.event where id = $1::uuid`;

/**
 * Below the watermark nothing can appear any more: every transaction with a smaller xid has ended. Bound, order and rows
 * come from the one snapshot of one statement; two statements could let a commit slip in between.
 * The inner limit bounds rows, the running sum bounds bytes (about 4 MiB, at least one event).
 */
const READ_ALL = `
select ${COLUMNS} from (
  select e.*, sum(e.bytes) over (order by e.epoch, e.xid, e.position rows unbounded preceding) as total
  from (
    select * from store.event
    where (epoch, xid, position) > ($1::int, $2::xid8, $3::bigint)
      and (epoch, xid) < ((select epoch from store.identity), pg_snapshot_xmin(pg_current_snapshot()))
    order by epoch, xid, position
    limit $4
  ) e
) page
where total <= 4194304 or total = bytes
order by epoch, xid, position`;

const recorded = ({ epoch, xid, position, hash, ...event }: EventRow): RecordedEvent =>
  currentEvent({ ...event, cursor: { epoch, xid, position }, hash: hash.toString('hex') });

/** The reading half of the Postgres adapter. Every method is one statement. */
export class EventReader {
  private readonly pool: Pool;
  private readonly address: string;

  constructor(pool: Pool, address: string) {
    this.pool = pool;
    this.address = address;
  }

  async streams(
    names: readonly string[],
    fromVersion: number,
    toVersion: number,
  ): Promise<ReadonlyMap<string, readonly RecordedEvent[]>> {
    const streams = new Map<string, RecordedEvent[]>(names.map((name) => [name, []]));
    if (names.length === 0) return streams;
    const values = [names, fromVersion, toVersion];
    const rows = await this.rows<EventRow>({ name: 'read_streams', text: READ_STREAMS, values });
    for (const row of rows) streams.get(row.stream)?.push(recorded(row));
    return streams;
  }

  async find(id: string): Promise<RecordedEvent | null> {
    if (!UUID.test(id)) return null;
    const [row] = await this.rows<EventRow>({ name: 'find', text: FIND, values: [id] });
    return row === undefined ? null : recorded(row);
  }

  async all(after: Cursor, limit: number): Promise<Page> {
    const values = [after.epoch, after.xid, after.position, limit];
    const rows = await this.rows<EventRow>({ name: 'read_all', text: READ_ALL, values });
    const events = rows.map(recorded);
    return { events, next: events.at(-1)?.cursor ?? after };
  }

  async watermark(): Promise<Watermark> {
    try {
      return await readWatermark(this.pool);
    } catch (error) {
      throw postgresFault(this.address, error);
    }
  }

  private async rows<Row extends QueryResultRow>(query: {
    name: string;
    text: string;
    values: unknown[];
  }): Promise<Row[]> {
    try {
      return (await this.pool.query<Row>(query)).rows;
    } catch (error) {
      throw postgresFault(this.address, error);
    }
  }
}

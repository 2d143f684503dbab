import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { DatabaseError, type Pool, type PoolClient } from 'pg';
import { appendStatement } from './append-statement.ts';
import type { AppendOutcome } from './event-store.ts';
import type { Waiting } from './group-commit.ts';
import { postgresFault, sqlState } from './postgres-fault.ts';
import { rejected } from './stored-event.ts';

interface AppendedRow {
  readonly stream: string;
  readonly version: number;
  readonly epoch: number;
  readonly xid: string;
  readonly position: string;
}

/** Deadlock and serialization failure: the statement did nothing and may simply run again. */
const RETRYABLE = new Set(['40P01', '40001']);
const ATTEMPTS = 5;

/** Data exceptions, integrity violations, and what the insert policy says: some append of the batch is bad. */
const isBadAppend = (error: unknown): error is DatabaseError =>
  /^(22|23|42501)/.test(sqlState(error) ?? '') &&
  // Heads and log disagree: the store is damaged, the append is not.
  !(error instanceof DatabaseError && error.constraint === 'event_stream_version');

const rejection = (error: DatabaseError): AppendOutcome => {
  if (error.code === '42501') return rejected('type_not_allowed', error.message);
  if (error.constraint === 'event_id') return rejected('duplicate_event_id', error.detail ?? error.message);
  return rejected('not_storable', error.message);
};

/** Writes batches with one statement each; halves a batch that fails until the bad append stands alone. */
export class AppendWriter {
  private readonly pool: Pool;
  private readonly address: string;

  constructor(pool: Pool, address: string) {
    this.pool = pool;
    this.address = address;
  }

  /** Settles or fails every append of the batch; never rejects. */
  async write(batch: readonly Waiting[]): Promise<void> {
    try {
      const client = await this.pool.connect();
      await this.writeWith(client, batch);
    } catch (error) {
      const fault = postgresFault(this.address, error);
      for (const waiting of batch) waiting.fail(fault);
    }
  }

  private async writeWith(client: PoolClient, batch: readonly Waiting[]): Promise<void> {
    try {
      await this.halve(client, batch);
      client.release();
    } catch (error) {
      // What the connection is worth after a fault nobody knows.
      client.release(true);
      throw error;
    }
  }

  /** Halves run one after the other: appends of one stream build on each other, and two lanes could deadlock. */
  private async halve(client: PoolClient, batch: readonly Waiting[]): Promise<void> {
    try {
      settle(batch, await run(client, batch));
    } catch (error) {
      if (!isBadAppend(error)) throw error;
      if (batch.length === 1) return batch[0]?.settle(rejection(error));
      const middle = batch.length >> 1;
      await this.halve(client, batch.slice(0, middle));
      await this.halve(client, batch.slice(middle));
    }
  }
}

const run = async (client: PoolClient, batch: readonly Waiting[]): Promise<readonly AppendedRow[]> => {
  const statement = appendStatement(batch.map(({ stored }) => stored));
  for (let attempt = 1; ; attempt += 1) {
    try {
      return (await client.query<AppendedRow>(statement)).rows;
    } catch (error) {
      if (attempt === ATTEMPTS || !RETRYABLE.has(sqlState(error) ?? '')) throw error;
    }
  }
};

const settle = (batch: readonly Waiting[], rows: readonly AppendedRow[]): void => {
  const won = new Map<string, AppendedRow[]>();
  for (const row of rows) {
    const list = won.get(row.stream);
    if (list === undefined) won.set(row.stream, [row]);
    else list.push(row);
  }
  for (const waiting of batch) {
    const { append } = waiting.stored;
    const first = won.get(append.stream)?.[0];
    const events = first === undefined ? null : recorded(waiting, won.get(append.stream) ?? []);
    waiting.settle(events === null ? { outcome: 'conflict' } : { outcome: 'appended', events });
  }
};

/** Rows come back in the order of their versions; several appends of one stream share them. */
const recorded = ({ stored }: Waiting, rows: readonly AppendedRow[]): readonly RecordedEvent[] => {
  const { append, events } = stored;
  const offset = append.expectedVersion - (rows[0]?.version ?? 1) + 1;
  return events.map(({ event, version, hash }, index): RecordedEvent => {
    const row = rows[offset + index];
    if (row?.version !== version)
      throw new Error(`${append.stream}: version ${version} did not come back from its append`);
    const { epoch, xid, position } = row;
    return {
      ...event,
      root: append.root,
      stream: append.stream,
      version,
      cursor: { epoch, xid, position },
      hash: hash.toString('hex'),
    };
  });
};

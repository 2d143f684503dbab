import type { Cursor } from '@fixpoint/contracts/envelope';
import { Client } from 'pg';
import { readWatermark } from './read-watermark.ts';
import { type ReaderPosition, readerPositions } from './reader-positions.ts';
import { isAtHome, readIdentity, type StoreIdentity } from './server-identity.ts';
import type { Watermark } from './watermark.ts';

export interface StoreStatus {
  readonly identity: StoreIdentity;
  /** False: restored or failed over, and refused by every process until a new epoch has begun. */
  readonly isAtHome: boolean;
  readonly newest: NewestEvent | null;
  readonly watermark: Watermark;
  readonly readers: readonly ReaderPosition[];
  readonly epochs: readonly PastEpoch[];
  /** Number of the last migration of each room. */
  readonly migrations: readonly { readonly source: string; readonly number: number }[];
}

export interface NewestEvent {
  readonly cursor: Cursor;
  readonly type: string;
  readonly stream: string;
  /** By the clock of the database, ISO 8601 in UTC. */
  readonly recordedAt: string;
}

export interface PastEpoch {
  readonly epoch: number;
  readonly systemIdentifier: string;
  readonly timeline: number;
  /** ISO 8601 in UTC. */
  readonly beganAt: string;
  readonly beganBy: string;
  readonly reason: string;
}

/**
 * How the store is, whether or not processes may run on it.
 * @param url of a user that may become the service roles.
 * @throws when it can't be reached or was never migrated.
 */
export const storeStatus = async (url: string): Promise<StoreStatus> => {
  const session = new Client({
    connectionString: url,
    connectionTimeoutMillis: 10_000,
    application_name: 'fixpoint store',
  });
  await session.connect();
  try {
    const identity = await readIdentity(session);
    return {
      identity,
      isAtHome: isAtHome(identity),
      newest: await newestEvent(session),
      watermark: await readWatermark(session),
      readers: await readerPositions(session, null),
      epochs: await epochs(session),
      migrations: await migrations(session),
    };
  } finally {
    await session.end();
  }
};

interface NewestRow extends Cursor {
  readonly type: string;
  readonly stream: string;
  readonly recorded_at: Date;
}

const newestEvent = async (session: Client): Promise<NewestEvent | null> => {
  const { rows } = await session.query<NewestRow>(
    `select epoch, xid, position, type, stream, recorded_at from store.event
     order by epoch desc, xid desc, position desc limit 1`,
  );
  const [row] = rows;
  if (row === undefined) return null;
  const { epoch, xid, position, type, stream, recorded_at: recordedAt } = row;
  return { cursor: { epoch, xid, position }, type, stream, recordedAt: recordedAt.toISOString() };
};

interface EpochRow {
  readonly epoch: number;
  readonly system_identifier: string;
  readonly timeline: number;
  readonly began_at: Date;
  readonly began_by: string;
  readonly reason: string;
}

const epochs = async (session: Client): Promise<readonly PastEpoch[]> => {
  const { rows } = await session.query<EpochRow>(
    'select epoch, system_identifier, timeline, began_at, began_by, reason from store.epoch order by epoch',
  );
  return rows.map((row) => ({
    ...{ epoch: row.epoch, systemIdentifier: row.system_identifier, timeline: row.timeline },
    ...{ beganAt: row.began_at.toISOString(), beganBy: row.began_by, reason: row.reason },
  }));
};

const migrations = async (session: Client): Promise<StoreStatus['migrations']> => {
  const { rows } = await session.query<{ source: string; number: number }>(
    'select source, max(number) as number from store.migration group by source order by source',
  );
  return rows;
};

import type { Client, Pool, PoolClient } from 'pg';

/** A Postgres server as its data knows it. */
export interface Server {
  /** Decimal; made by initdb, kept by every copy of the files. */
  readonly systemIdentifier: string;
  /** Goes up with each promotion and each recovery to a point in time. */
  readonly timeline: number;
}

/** The time of a store on one server. */
export interface Epoch {
  /** Goes up with each restore; the first part of every cursor. */
  readonly number: number;
  /** By the clock of the database, ISO 8601 in UTC. */
  readonly beganAt: string;
}

/** Where a store is, and where it was written. */
export interface StoreIdentity {
  readonly epoch: Epoch;
  /** The server that the store's cursors belong to. */
  readonly written: Server;
  /** The server that it is on now. */
  readonly found: Server;
}

interface IdentityRow {
  readonly epoch: number;
  readonly began_at: Date;
  readonly system_identifier: string;
  readonly timeline: number;
  readonly found_system_identifier: string;
  readonly found_timeline: number;
}

/** Timeline of the running server; a checkpoint's would lag behind a promotion. Fails on a standby. */
const IDENTITY = `
select i.epoch, e.began_at, i.system_identifier, i.timeline, c.system_identifier::text as found_system_identifier,
  ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::integer as found_timeline
from pg_control_system() c, store.identity i join store.epoch e using (epoch)`;

/** @throws when the database is not migrated, or its server is a standby. */
export const readIdentity = async (session: Client | Pool | PoolClient): Promise<StoreIdentity> => {
  const { rows } = await session.query<IdentityRow>(IDENTITY);
  const [row] = rows;
  if (row === undefined) throw new Error('The event store has no identity row: it was not made by the migrations');
  return {
    epoch: { number: row.epoch, beganAt: row.began_at.toISOString() },
    written: { systemIdentifier: row.system_identifier, timeline: row.timeline },
    found: { systemIdentifier: row.found_system_identifier, timeline: row.found_timeline },
  };
};

/** False for a store that was restored from elsewhere, or whose server was promoted. */
export const isAtHome = ({ written, found }: StoreIdentity): boolean =>
  written.systemIdentifier === found.systemIdentifier && written.timeline === found.timeline;

const serverText = ({ systemIdentifier, timeline }: Server): string =>
  `server ${systemIdentifier}, timeline ${timeline}`;

/**
 * Cursors and transaction ids mean nothing on another server: after a restore or a failover new events could hide below
 * old checkpoints.
 * @throws when the store is not where it was written.
 */
export const assertAtHome = (identity: StoreIdentity): void => {
  if (isAtHome(identity)) return;
  throw new Error(
    `This event store was written on ${serverText(identity.written)}, and is now on ${serverText(identity.found)}: it was ` +
      'restored or failed over. Nothing runs on it until `fixpoint store new-epoch` has begun a new epoch',
  );
};

/**
 * Keeps a running process on the server and in the epoch it began on. A pool connects anew behind the same address after
 * a failover, and what the process remembers (versions, cursors, states) may never have happened there.
 */
export class ServerGuard {
  readonly #onForeign: (error: Error) => void;
  #began: StoreIdentity | null = null;

  /** @param onForeign told, once per connection that was refused, why this process must not go on. */
  constructor(onForeign: (error: Error) => void) {
    this.#onForeign = onForeign;
  }

  /** What every connection from now on is held against. */
  begin(identity: StoreIdentity): void {
    this.#began = identity;
  }

  /** @throws when this connection leads elsewhere; what else fails is a fault of the world. */
  async check(client: PoolClient): Promise<void> {
    const began = this.#began;
    if (began === null) return;
    const now = await readIdentity(client);
    try {
      assertAtHome(now);
      if (now.epoch.number !== began.epoch.number || now.found.systemIdentifier !== began.found.systemIdentifier)
        throw new Error(
          `The event store is in epoch ${now.epoch.number}; this process began in epoch ${began.epoch.number}`,
        );
    } catch (error) {
      if (error instanceof Error) this.#onForeign(error);
      throw error;
    }
  }
}

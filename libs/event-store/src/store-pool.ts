import { Pool, type PoolClient } from 'pg';
import type { OWNER_ROLE, StoreRole } from './roles.ts';
import type { ServerGuard } from './server-identity.ts';

export interface StorePoolOptions {
  /** `postgres://user:password@host:port/database`; the user is a member of `role`. */
  readonly url: string;
  /** The role every connection becomes; the owner's for jobs that make tables, and for nothing else. */
  readonly role: StoreRole | typeof OWNER_ROLE;
  /** Shown by Postgres for each session, as `fixpoint orchestrator`. */
  readonly applicationName: string;
  /** How long a connection may take to be had; default 5,000 ms. */
  readonly connectTimeoutMs?: number;
  /** Longest statement; default 30,000 ms. A hung server fails the statement a little later. */
  readonly statementTimeoutMs?: number;
  /** Asked about every new connection; none where a connection may lead anywhere. */
  readonly guard?: ServerGuard;
}

/** A pool that reconnects by itself: a lost connection fails what ran on it and is replaced by the next use. */
export const storePool = (options: StorePoolOptions, size: number): Pool => {
  const statementTimeoutMs = options.statementTimeoutMs ?? 30_000;
  const pool = new Pool({
    connectionString: options.url,
    application_name: options.applicationName,
    max: size,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 5_000,
    query_timeout: statementTimeoutMs + 2_000,
    keepAlive: true,
    ...(options.guard === undefined ? {} : { verify: verifyWith(options.guard) }),
    // An open transaction would hold every reader's watermark back; a plan per execution costs more than the statement.
    options: [
      `-c role=${options.role}`,
      `-c statement_timeout=${statementTimeoutMs}`,
      `-c idle_in_transaction_session_timeout=${statementTimeoutMs}`,
      '-c plan_cache_mode=force_generic_plan',
      '-c jit=off',
    ].join(' '),
  });
  // Without listeners the loss of a connection would end the process: the pool listens for idle ones only, and nobody for
  // one that is checked out between two queries. The next use reports what is wrong.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
};

const verifyWith =
  (guard: ServerGuard) =>
  (client: PoolClient, done: (error?: Error) => void): void => {
    guard.check(client).then(
      () => done(),
      (error: unknown) => done(error instanceof Error ? error : new Error(String(error))),
    );
  };

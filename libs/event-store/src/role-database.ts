import { Kysely, PostgresDialect } from 'kysely';
import { type StorePoolOptions, storePool } from './store-pool.ts';

/** Queries under a role, for jobs that end; `destroy()` it when done. A process that stays shares the pool it has. */
export const roleDatabase = <Tables = unknown>(options: StorePoolOptions, connections: number): Kysely<Tables> =>
  new Kysely<Tables>({ dialect: new PostgresDialect({ pool: storePool(options, connections) }) });

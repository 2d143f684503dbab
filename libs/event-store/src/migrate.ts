import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { Client } from 'pg';
import { createRoles, OWNER_ROLE } from './roles.ts';

/** A folder of `NNNN_what_it_does.sql` files, numbered from 0001 without gaps. */
export interface MigrationSource {
  /** Name of the room, as `event-store`: its numbers are its own. */
  readonly name: string;
  readonly folder: URL;
}

/** Which service may append a type; a type that several may append is listed once per service. */
export interface EventTypeOwner {
  readonly type: string;
  readonly owner: string;
}

export interface MigrateOptions {
  /** Connects as a user that may create roles (or is a member of `fixpoint_owner` where they exist). */
  readonly url: string;
  /** Run in this order, after the event store's own. */
  readonly sources: readonly MigrationSource[];
  readonly eventTypes: readonly EventTypeOwner[];
}

export const EVENT_STORE_MIGRATIONS: MigrationSource = {
  name: 'event-store',
  folder: new URL('../migrations/', import.meta.url),
};

interface Migration {
  readonly source: string;
  readonly number: number;
  readonly name: string;
  readonly sql: string;
  readonly sha256: string;
  /** A process that does not know it cannot live with it: the file begins with `-- breaking: <why>`. */
  readonly breaking: boolean;
}

/** 32-bit, from no other place: waits only for other migration jobs of this database. */
export const MIGRATION_LOCK = 0x66_78_70_74;

/**
 * @returns the migrations of a folder in order.
 * @throws when a file is misnamed or a number is missing or taken twice.
 */
export const readMigrations = async (source: MigrationSource): Promise<readonly Migration[]> => {
  const files = (await readdir(source.folder)).filter((file) => file.endsWith('.sql')).sort();
  return Promise.all(
    files.map(async (file, index) => {
      const number = Number(/^(\d{4})_[a-z0-9_]+\.sql$/.exec(file)?.[1]);
      if (number !== index + 1)
        throw new Error(`${source.name}: ${file} should be number ${index + 1}, as NNNN_what_it_does.sql`);
      const sql = await readFile(new URL(file, source.folder), 'utf8');
      const name = basename(file, '.sql');
      return {
        source: source.name,
        number,
        name,
        sql,
        sha256: hash('sha256', sql),
        breaking: sql.startsWith('-- breaking:'),
      };
    }),
  );
};

const appliedMigrations = async (client: Client): Promise<ReadonlyMap<string, string>> => {
  await client.query('create schema if not exists store');
  await client.query(`create table if not exists store.migration (
    source text not null, number integer not null, name text not null, sha256 text not null, breaking boolean not null,
    applied_at timestamptz not null default now(), primary key (source, number))`);
  const { rows } = await client.query<{ key: string; sha256: string }>(
    `select source || '/' || number as key, sha256 from store.migration`,
  );
  return new Map(rows.map(({ key, sha256 }) => [key, sha256]));
};

const apply = async (client: Client, migration: Migration): Promise<void> => {
  const { source, number, name, sha256, breaking } = migration;
  try {
    await client.query(migration.sql);
  } catch (error) {
    throw new Error(`migration ${source}/${name} failed: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
  await client.query(
    'insert into store.migration (source, number, name, sha256, breaking) values ($1, $2, $3, $4, $5)',
    [source, number, name, sha256, breaking],
  );
};

/** Adds what is new. Nothing is removed: processes of the release before still append their types. */
const syncEventTypes = async (client: Client, owners: readonly EventTypeOwner[]): Promise<void> => {
  await client.query(
    `insert into store.event_type (type, owner)
     select * from unnest($1::text[], $2::text[]) on conflict do nothing`,
    [owners.map(({ type }) => type), owners.map(({ owner }) => owner)],
  );
};

const runPending = async (client: Client, migrations: readonly Migration[]): Promise<readonly string[]> => {
  const applied = await appliedMigrations(client);
  const done: string[] = [];
  for (const migration of migrations) {
    const key = `${migration.source}/${migration.number}`;
    const before = applied.get(key);
    if (before === migration.sha256) continue;
    if (before !== undefined) throw new Error(`migration ${key} was edited after it ran: add a new number instead`);
    await apply(client, migration);
    done.push(`${migration.source}/${migration.name}`);
  }
  return done;
};

const migrationSession = (url: string): Client =>
  new Client({ connectionString: url, connectionTimeoutMillis: 10_000, application_name: 'fixpoint migrate' });

/** Only the roles that the store's objects belong to and are granted to: a dump that is restored needs them before. */
export const migrateRoles = async (url: string): Promise<void> => {
  const client = migrationSession(url);
  await client.connect();
  try {
    await createRoles(client);
  } finally {
    await client.end();
  }
};

/**
 * Creates roles, runs what is pending in one transaction, and makes the insert policy's table know the event types.
 * Safe to run by many at once: one runs, the others wait and find nothing to do.
 * @returns the names of the migrations that ran, in order; empty when there was nothing to do.
 */
export const migrate = async (options: MigrateOptions): Promise<readonly string[]> => {
  const migrations = (await Promise.all([EVENT_STORE_MIGRATIONS, ...options.sources].map(readMigrations))).flat();
  const client = migrationSession(options.url);
  await client.connect();
  try {
    await createRoles(client);
    await client.query('begin');
    // Ends with the transaction, so it holds through a pooler too.
    await client.query('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    await client.query(`set local role ${OWNER_ROLE}`);
    const done = await runPending(client, migrations);
    await syncEventTypes(client, options.eventTypes);
    await client.query('commit');
    return done;
  } finally {
    await client.end();
  }
};

import { hash, randomUUID } from 'node:crypto';
import { eventOwners } from '@fixpoint/contracts/events/catalogue';
import {
  EVENT_STORE_MIGRATIONS,
  type EventTypeOwner,
  type MigrationSource,
  migrate,
  readMigrations,
} from '@fixpoint/event-store/migrate';
import { Client } from 'pg';

export interface TestDatabaseOptions {
  /** Migrations after the event store's own. */
  readonly migrations?: readonly MigrationSource[];
  /** Who may append what; default: the types of contracts. */
  readonly eventTypes?: readonly EventTypeOwner[];
}

export interface TestDatabase {
  /** Connects as a superuser. */
  readonly url: string;
  /** Drops the database with whatever is still connected to it. */
  close(): Promise<void>;
}

/** Any number: it is only taken on the server's own database, and only here. */
const TEMPLATE_LOCK = 0x66_78_74_64;

const serverUrl = (): string => {
  const url = process.env.POSTGRES_URL;
  if (url === undefined || url === '')
    throw new Error('The tests need Postgres: run them through jest, or set POSTGRES_URL');
  return url;
};

const urlOf = (database: string): string => {
  const url = new URL(serverUrl());
  url.pathname = `/${database}`;
  return url.href;
};

const onServer = async <Result>(work: (client: Client) => Promise<Result>): Promise<Result> => {
  const client = new Client({ connectionString: serverUrl(), connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
};

const makeTemplate = async (
  client: Client,
  template: string,
  options: Required<TestDatabaseOptions>,
): Promise<void> => {
  const unfinished = `${template}_unfinished`;
  await client.query(`drop database if exists ${unfinished} with (force)`);
  await client.query(`create database ${unfinished}`);
  await migrate({ url: urlOf(unfinished), sources: options.migrations, eventTypes: options.eventTypes });
  await client.query(`alter database ${unfinished} rename to ${template}`);
};

/** One template per server and content; whoever comes first makes it. */
const template = async (client: Client, options: Required<TestDatabaseOptions>): Promise<string> => {
  const migrations = await Promise.all([EVENT_STORE_MIGRATIONS, ...options.migrations].map(readMigrations));
  const content = JSON.stringify([migrations.flat().map(({ source, sha256 }) => [source, sha256]), options.eventTypes]);
  const name = `fixpoint_template_${hash('sha256', content).slice(0, 16)}`;
  await client.query('select pg_advisory_lock($1)', [TEMPLATE_LOCK]);
  const { rowCount } = await client.query('select from pg_database where datname = $1', [name]);
  if (rowCount === 0) await makeTemplate(client, name, options);
  await client.query('select pg_advisory_unlock($1)', [TEMPLATE_LOCK]);
  return name;
};

/**
 * A fresh, migrated database of this test file's own, on the server that the run has (POSTGRES_URL).
 * @throws when there is no server.
 */
export const testDatabase = async (options: TestDatabaseOptions = {}): Promise<TestDatabase> => {
  const name = `fixpoint_test_${randomUUID().replaceAll('-', '')}`;
  const complete = { migrations: options.migrations ?? [], eventTypes: options.eventTypes ?? eventOwners() };
  await onServer(async (client) => {
    await client.query(`create database ${name} template ${await template(client, complete)}`);
  });
  return {
    url: urlOf(name),
    close: () => onServer(async (client) => void (await client.query(`drop database if exists ${name} with (force)`))),
  };
};

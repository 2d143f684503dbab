import { randomUUID } from 'node:crypto';
import { Client } from 'pg';

export interface FreshDatabase {
  /** Connects as the superuser of the run's server. */
  readonly url: string;
  drop(): Promise<void>;
}

/** An empty database on the server that the run has. */
export const freshDatabase = async (): Promise<FreshDatabase> => {
  const name = `compose_${randomUUID().replaceAll('-', '')}`;
  await onServer(`create database ${name}`);
  const url = new URL(serverUrl());
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => onServer(`drop database ${name} with (force)`) };
};

const serverUrl = (): string => {
  const url = process.env.POSTGRES_URL;
  if (url === undefined || url === '') throw new Error('The tests need Postgres: run them through jest');
  return url;
};

const onServer = async (statement: string): Promise<void> => {
  const client = new Client({ connectionString: serverUrl() });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
};

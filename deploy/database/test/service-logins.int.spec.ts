import { SERVICE_ROLES } from '@fixpoint/event-store/roles';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Client } from 'pg';
import { parseConfig } from '../src/config.ts';
import { migrateInstallation } from '../src/migrate-installation.ts';
import { createLogins, loginOf, SERVICES, type Service } from '../src/service-logins.ts';
import { type FreshDatabase, freshDatabase } from './fresh-database.ts';
import { testEnvironment } from './secrets.ts';

let database: FreshDatabase;
const passwords = parseConfig({ ...testEnvironment(), FIXPOINT_POSTGRES_URL: 'postgres://nobody' });

beforeAll(async () => {
  database = await freshDatabase();
  await migrateInstallation(database.url);
  // Twice: the job may run as often as it likes.
  for (const _ of ['once', 'again']) await createLogins(database.url, passwords);
});
afterAll(() => database.drop());

const as = async <Result>(service: Service, work: (client: Client) => Promise<Result>): Promise<Result> => {
  const url = new URL(database.url);
  url.username = loginOf(service);
  url.password = passwords[service];
  const client = new Client({ connectionString: url.href });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
};

describe('the login of each service', () => {
  test.each(SERVICES)('%s becomes its own role and no other', async (service) => {
    await as(service, async (client) => {
      await client.query(`set role ${SERVICE_ROLES[service]}`);
      const others = SERVICES.filter((other) => other !== service).map((other) => SERVICE_ROLES[other]);
      for (const role of [...others, 'fixpoint_owner', 'fixpoint_embedded']) {
        await expect(client.query(`set role ${role}`)).rejects.toThrow('permission denied');
      }
    });
  });

  test('may read the log, and neither change it nor make roles', async () => {
    await as('executor', async (client) => {
      await client.query('select from store.event limit 1');
      await expect(client.query('delete from store.event')).rejects.toThrow('permission denied');
      await expect(client.query('create role more')).rejects.toThrow('permission denied');
    });
  });

  test('is told apart by its password, kept as a hash', async () => {
    const client = new Client({ connectionString: database.url });
    await client.connect();
    const { rows } = await client.query<{ kept: string }>(
      "select rolpassword as kept from pg_authid where rolname like 'fixpoint\\_%\\_login'",
    );
    await client.end();
    expect(rows.map(({ kept }) => kept.slice(0, 14))).toEqual(SERVICES.map(() => 'SCRAM-SHA-256$'));
    expect(new Set(rows.map(({ kept }) => kept)).size).toBe(SERVICES.length);
  });
});

import { migrateInstallation } from '@fixpoint/database/migrate-installation';
import { eventually } from '@fixpoint/testing/eventually';
import { type TestDatabase, testDatabase } from '@fixpoint/testing/test-database';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import getPort from 'get-port';
import { Client } from 'pg';
import { type ServiceProgram, startService } from './service-program.ts';

const LONG_MS = 90_000;

/** Those that read the log by cursor. */
const SERVICES = ['orchestrator', 'auditor'] as const;

interface Running {
  readonly name: string;
  readonly program: ServiceProgram;
  readonly url: string;
}

let database: TestDatabase;
let elsewhere: TestDatabase;
let superuser: Client;
let services: readonly Running[];

beforeAll(async () => {
  [database, elsewhere] = await Promise.all([testDatabase(), testDatabase()]);
  await migrateInstallation(database.url);
  superuser = new Client({ connectionString: database.url });
  await superuser.connect();
  services = await Promise.all(SERVICES.map(start));
  for (const service of services) await eventually(`${service.name} is ready`, () => isReady(service), LONG_MS);
}, LONG_MS);
afterAll(async () => {
  for (const { program } of services) {
    program.signal('SIGKILL');
    await program.ended();
  }
  await superuser.end();
  await Promise.all([database.close(), elsewhere.close()]);
}, LONG_MS);

const start = async (name: (typeof SERVICES)[number]): Promise<Running> => {
  const port = await getPort({ host: '127.0.0.1' });
  const program = startService(name, {
    FIXPOINT_POSTGRES_URL: database.url,
    FIXPOINT_NATS_URL: process.env.NATS_URL ?? '',
    FIXPOINT_NAMESPACE: `alarm-${port}`,
    FIXPOINT_STORE_ALARM_MS: '500',
    [`FIXPOINT_${name.toUpperCase()}_PORT`]: String(port),
  });
  return { name, program, url: `http://127.0.0.1:${port}` };
};

const health = async ({ url }: Running): Promise<{ status: number; text: string }> => {
  const answer = await fetch(`${url}/health/ready`).catch(() => null);
  return { status: answer?.status ?? 0, text: (await answer?.text()) ?? '' };
};
const isReady = async (service: Running): Promise<boolean> => (await health(service)).status === 200;

describe('processes that read the log by cursor', () => {
  test(
    'A9: are not ready while a session in another database holds the watermark, name it in health and log, and recover',
    async () => {
      const holder = new Client({ connectionString: elsewhere.url, application_name: 'a forgotten psql' });
      await holder.connect();
      await holder.query('begin');
      await holder.query('create table forgotten (n int)');
      const { rows } = await holder.query<{ pid: number }>('select pg_backend_pid() as pid');
      const named = `pid ${rows[0]?.pid} (a forgotten psql, database ${new URL(elsewhere.url).pathname.slice(1)}`;
      for (const service of services) {
        await eventually(`${service.name} names the session`, async () => {
          const { status, text } = await health(service);
          return status === 503 && text.includes(named);
        });
        await eventually(`${service.name} has logged it`, () => service.program.log().includes(named));
      }
      await holder.query('rollback');
      await holder.end();
      for (const service of services) await eventually(`${service.name} is ready again`, () => isReady(service));
    },
    LONG_MS,
  );

  test(
    'P09: end when a later connection leads to a server that the store was not written on',
    async () => {
      await superuser.query(`update store.identity set system_identifier = '42'`);
      await superuser.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
      );
      for (const { name, program } of services) {
        expect(`${name} ${await program.ended()}`).toBe(`${name} 1`);
        // What it wrote last may arrive after its end.
        await eventually(`${name} says why`, () => program.log().includes('uncaught exception'));
        expect(program.log()).toContain('written on server 42');
      }
    },
    LONG_MS,
  );
});

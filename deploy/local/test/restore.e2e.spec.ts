import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startPostgres } from '@fixpoint/backing-services/postgres';
import type { PostgresServer } from '@fixpoint/backing-services/postgres-server';
import { CURSOR_START } from '@fixpoint/contracts/envelope';
import { migrateInstallation } from '@fixpoint/database/migrate-installation';
import { eventId } from '@fixpoint/event-store/event-id';
import type { Append } from '@fixpoint/event-store/event-store';
import { PostgresEventStore } from '@fixpoint/event-store/postgres-event-store';
import { storeStatus } from '@fixpoint/event-store/store-status';
import { allVisible } from '@fixpoint/testing/all-visible';
import { eventually } from '@fixpoint/testing/eventually';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Client } from 'pg';
import { dump } from './dump.ts';
import { heldTask } from './held-task.ts';
import { type RunningInstallation, startInstallation } from './installation.ts';

const execute = promisify(execFile);
const LONG_MS = 180_000;
const END_MS = 90_000;
const FIXPOINT = fileURLToPath(new URL('../../../cli/bin/fixpoint.js', import.meta.url));

const DONE = `
kind: task/v1
name: done
project: e2e
goal: A file is there
nodes:
  - id: write
    goal: A file is there
    recipe: { command: "echo done > done" }
    postcondition: { command: test -s done }
`;

/** Runs `fixpoint store …` as an operator does. @returns its exit code and answer */
const fixpointStore = async (url: string, ...args: readonly string[]) => {
  const ran = await execute(process.execPath, [FIXPOINT, 'store', ...args, '--postgres', url, '--json']).catch(
    (error: { code: number; stdout: string }) => error,
  );
  return { code: 'code' in ran ? ran.code : 0, answer: ran.stdout === '' ? null : JSON.parse(ran.stdout) };
};

const query = async (url: string, text: string): Promise<readonly Record<string, unknown>[]> => {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
};

let folder: string;
/** What a test has started, to be stopped the last one first. */
const started: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fixpoint-restore-'));
});
afterEach(async () => {
  for (const stop of started.splice(0).toReversed()) await stop();
}, LONG_MS);
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('P08: an installation whose database is restored from a dump on another server', () => {
  const databaseHere = async (): Promise<string> => {
    const server = process.env.POSTGRES_URL ?? '';
    const name = `fixpoint_restore_${randomUUID().replaceAll('-', '')}`;
    await query(server, `create database ${name}`);
    started.push(() => query(server, `drop database ${name} with (force)`));
    return Object.assign(new URL(server), { pathname: `/${name}` }).href;
  };
  const serverElsewhere = async (): Promise<string> => {
    const options = { url: null, dockerHost: null, temporary: true, onProgress: () => undefined };
    const server = await startPostgres({ ...options, folder: join(folder, 'elsewhere') });
    started.push(() => server.stop());
    return server.url;
  };
  const installationOn = async (postgresUrl: string, keysOf?: string): Promise<RunningInstallation> => {
    const keys = keysOf === undefined ? {} : { keysOf };
    const installation = await startInstallation({ postgresUrl, embedded: true, withoutNats: true, ...keys });
    started.push(() => installation.stop());
    return installation;
  };

  test(
    'is refused there, goes on in a new epoch where it stood, and loses nothing that was stored',
    async () => {
      const here = await databaseHere();
      const before = await installationOn(here);
      const done = await before.client.submit({ document: DONE });
      await before.client.waitForEnd(done.lineage, END_MS);
      const held = await heldTask(folder);
      const open = await before.client.submit({ document: held.document });
      await held.started();
      const taken = await dump(here, join(folder, 'fixpoint.dump'));
      const elsewhere = await serverElsewhere();
      await taken.restore(elsewhere);

      await expect(startInstallation({ postgresUrl: elsewhere, embedded: true, withoutNats: true })).rejects.toThrow(
        'it was restored or failed over. Nothing runs on it until `fixpoint store new-epoch` has begun a new epoch',
      );
      expect(await fixpointStore(elsewhere, 'status')).toMatchObject({ code: 5, answer: { usable: false, epoch: 1 } });
      const begun = await fixpointStore(elsewhere, 'new-epoch', '--reason', 'spec');
      expect(begun).toMatchObject({ code: 0, answer: { epoch: 2, before: { epoch: 1 } } });
      expect(begun.answer.readers.map(({ name }: { name: string }) => name)).toEqual(
        expect.arrayContaining(['auditor__read_model', 'orchestrator__waits']),
      );
      expect(begun.answer.readers.filter(({ rebuild }: { rebuild: boolean }) => rebuild)).toEqual([]);

      const after = await installationOn(elsewhere, before.folder);
      await held.release();
      expect(await after.client.waitForEnd(open.lineage, END_MS)).toMatchObject({ lineage: { status: 'completed' } });
      expect(await after.client.lineage(done.lineage)).toMatchObject({ status: 'completed' });
      const next = await after.client.submit({ document: DONE });
      expect(await after.client.waitForEnd(next.lineage, END_MS)).toMatchObject({ lineage: { status: 'completed' } });
      const epochs = await query(elsewhere, 'select distinct epoch from store.event order by epoch');
      expect(epochs).toEqual([{ epoch: 1 }, { epoch: 2 }]);
      await eventually('every reader has come to the end of the log', async () => {
        const { readers } = await storeStatus(elsewhere);
        return readers.every(({ lagMs }) => lagMs === 0);
      });
    },
    LONG_MS,
  );
});

describe('a server that is recovered from a base copy of its files', () => {
  const options = { url: null, dockerHost: null, temporary: false, onProgress: () => undefined };
  const running = async (place: string): Promise<PostgresServer> => {
    const server = await startPostgres({ ...options, folder: place });
    started.push(() => server.stop());
    return server;
  };
  const onStore = async <Result>(
    { url }: PostgresServer,
    work: (store: PostgresEventStore) => Promise<Result>,
  ): Promise<Result> => {
    const store = new PostgresEventStore({ url, role: 'fixpoint_embedded', applicationName: 'fixpoint spec' });
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  };
  const appendOf = (stream: string): Append => {
    const occurredAt = '2026-01-02T03:04:05.006Z';
    const id = eventId({ causeId: stream, causeTime: occurredAt, handler: 'spec', stream, index: 0 });
    const metadata = { causation_id: stream, correlation_id: stream, producer: 'spec', actor: 'system' };
    const event = { id, type: 'task_submitted', schema_version: 1, data: {}, metadata, occurred_at: occurredAt };
    return { stream, root: stream, expectedVersion: 0, events: [event] };
  };
  const refusalOn = (server: PostgresServer): Promise<string> =>
    onStore(server, (store) =>
      store.assertUsable(0).then(
        () => 'not refused',
        (error: Error) => error.message,
      ),
    );
  const streamsOn = (server: PostgresServer): Promise<string[]> =>
    onStore(server, async (store) => {
      await store.assertUsable(0);
      await store.append(appendOf('after'));
      await allVisible(store);
      const { events } = await store.readAll(CURSOR_START, 10);
      return events.map(({ stream, cursor }) => `${stream} in ${cursor.epoch}`);
    });

  test(
    'P10, P08: is refused as a standby and after its promotion, until a new epoch has begun on the new timeline',
    async () => {
      // Below a folder that others may not enter, the files would be kept elsewhere.
      const original = await mkdtemp(join(tmpdir(), 'fixpoint-original-'));
      const copy = `${original}-copy`;
      started.push(() => execute('rm', ['-rf', original, copy]));
      const first = await running(original);
      await migrateInstallation(first.url);
      await onStore(first, (store) => store.append(appendOf('before')));
      await first.stop();
      await execute('cp', ['-a', original, copy]);

      await writeFile(join(copy, 'data', 'standby.signal'), '');
      const standby = await running(copy);
      expect(await refusalOn(standby)).toContain('recovery is in progress');
      await standby.stop();

      await rm(join(copy, 'data', 'standby.signal'));
      await writeFile(join(copy, 'data', 'recovery.signal'), '');
      await appendFile(join(copy, 'data', 'postgresql.auto.conf'), `restore_command = 'false'\n`);
      const promoted = await running(copy);
      await eventually('the copy is promoted', async () => {
        const [row] = await query(promoted.url, 'select pg_is_in_recovery() as standby');
        return row?.standby === false;
      });
      expect(await refusalOn(promoted)).toMatch(/timeline 1, and is now on server \d+, timeline 2/);

      expect(await fixpointStore(promoted.url, 'new-epoch')).toMatchObject({
        code: 0,
        answer: { epoch: 2, timeline: 2 },
      });
      expect(await streamsOn(promoted)).toEqual(['before in 1', 'after in 2']);
    },
    LONG_MS,
  );
});

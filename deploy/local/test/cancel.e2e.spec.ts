import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { eventually } from '@fixpoint/testing/eventually';
import { type TestDatabase, testDatabase } from '@fixpoint/testing/test-database';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { fixpoint } from './command-line.ts';
import { heldTask } from './held-task.ts';
import { type RunningInstallation, startInstallation } from './installation.ts';
import { isRunning, processesWith } from './machine-processes.ts';
import { sourceRepository } from './source-repository.ts';
import { splitTask } from './split-task.ts';

const LONG_MS = 60_000;
/** Between the answer to a cancel and the end of what it is about. */
const SOON_MS = 2_000;

let database: TestDatabase;
let installation: RunningInstallation;

beforeAll(async () => {
  database = await testDatabase();
  installation = await startInstallation({ postgresUrl: database.url });
}, 2 * LONG_MS);

afterAll(async () => {
  await installation.stop();
  await database.close();
}, LONG_MS);

const submit = async (document: unknown): Promise<string> => {
  const text = typeof document === 'string' ? document : JSON.stringify(document);
  return (await installation.client.submit({ document: text })).lineage;
};

const task = (name: string, more: object) => ({
  ...{ kind: 'task/v1', name, project: 'e2e', goal: 'It is done' },
  ...more,
});

const STUCK = { recipe: { command: 'ls' }, postcondition: { command: 'test -e never' } };

const typesOf = async (lineage: string): Promise<readonly string[]> =>
  (await installation.client.events({ lineage })).items.map(({ type }) => type);

const reached = (lineage: string, type: string): Promise<boolean> =>
  eventually(`${type} of ${lineage}`, async () => (await typesOf(lineage)).includes(type), LONG_MS);

/** Over for everyone soon after the command line said so. */
const cancelled = async (lineage: string): Promise<void> => {
  expect(await fixpoint(installation, 'cancel', lineage)).toBe(0);
  await eventually(
    `${lineage} is over`,
    async () => (await installation.client.lineage(lineage)).status === 'cancelled',
    SOON_MS,
  );
};

describe('fixpoint cancel ends a task', () => {
  test(
    'B9 whose command runs, and the command with it',
    async () => {
      const held = await heldTask(installation.folder);
      const lineage = await submit(held.document);
      const pid = await held.started();
      await cancelled(lineage);
      await eventually('the command is gone', () => !isRunning(pid), SOON_MS);
    },
    LONG_MS,
  );

  test(
    'B9 that waits for its turn, which never comes',
    async () => {
      const key = { concurrency: { key: 'one-at-a-time', limit: 1 } };
      const held = await heldTask(installation.folder, 'first');
      const first = await submit(`${held.document}concurrency: { key: one-at-a-time, limit: 1 }\n`);
      const pid = await held.started();
      const queued = await submit(task('second', { ...key, recipe: { command: 'true > done' } }));
      await reached(queued, 'node_queued');
      await cancelled(queued);
      await cancelled(first);
      await eventually('the command is gone', () => !isRunning(pid), SOON_MS);
      expect(await typesOf(queued)).not.toContain('node_ready');
    },
    LONG_MS,
  );

  test(
    'B9 that backs off, and tries nothing again',
    async () => {
      const mode = 'backoffs: { indeterminate: [10m] }';
      await installation.client.publishProtocol(
        `kind: protocol/v1\nname: patient\nproject: patient\nmodes: { build: { ${mode} } }\n`,
      );
      const unanswered = { recipe: { command: 'true' }, postcondition: { command: 'no-such-program-anywhere' } };
      const lineage = await submit({ ...task('back-off', unanswered), project: 'patient' });
      await reached(lineage, 'run_counted');
      await cancelled(lineage);
      expect((await typesOf(lineage)).filter((type) => type === 'node_ready')).toHaveLength(1);
    },
    LONG_MS,
  );

  test(
    'B9 that waits for a human, who is asked no more',
    async () => {
      const lineage = await submit(task('stuck', STUCK));
      await reached(lineage, 'human_required');
      await cancelled(lineage);
      await eventually('nobody is asked', async () => (await typesOf(lineage)).includes('handoff_withdrawn'), SOON_MS);
    },
    LONG_MS,
  );

  test(
    'B9 that a council is asked about, whose answer splits nothing any more',
    async () => {
      const decomposer = installation.pid('decomposer') ?? 0;
      process.kill(decomposer, 'SIGSTOP');
      try {
        const lineage = await submit(task('asking', STUCK));
        await reached(lineage, 'decomposition_requested');
        await cancelled(lineage);
        process.kill(decomposer, 'SIGCONT');
        const next = await submit(task('after it', STUCK));
        await reached(next, 'split_decided');
        expect(await typesOf(lineage)).not.toContain('split_decided');
      } finally {
        process.kill(decomposer, 'SIGCONT');
      }
    },
    LONG_MS,
  );

  test(
    'B9 whose parts do its work, with the commands of all of them',
    async () => {
      const source = await sourceRepository(join(installation.folder, 'source'), installation.path);
      const nap = `sleep 600.${randomInt(1_000_000, 9_999_999)}`;
      const lineage = await submit(splitTask(source.folder, { files: ['one', 'two'], before: nap }));
      await eventually('both parts run', () => processesWith(nap).length >= 2, LONG_MS);
      await cancelled(lineage);
      await eventually('their commands are gone', () => processesWith(nap).length === 0, SOON_MS);
      const { items } = await installation.client.tasks({ lineage });
      expect(items.map(({ status }) => status)).toEqual(['cancelled', 'cancelled', 'cancelled']);
    },
    LONG_MS,
  );
});

import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { eventually } from '@fixpoint/testing/eventually';
import { type TestDatabase, testDatabase } from '@fixpoint/testing/test-database';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type RunningInstallation, type Service, startInstallation } from './installation.ts';
import { type Source, sourceRepository } from './source-repository.ts';
import { appendTask, splitTask } from './split-task.ts';

const LONG_MS = 120_000;
/** A service is killed at most so long after the children began. */
const LATEST_KILL_MS = 1_500;

let database: TestDatabase;
let installation: RunningInstallation;

beforeAll(async () => {
  database = await testDatabase();
  installation = await startInstallation({ postgresUrl: database.url });
}, LONG_MS);

afterAll(async () => {
  await installation.stop();
  await database.close();
}, LONG_MS);

const source = (name: string): Promise<Source> => sourceRepository(join(installation.folder, name), installation.path);

const submit = async (document: string): Promise<string> => (await installation.client.submit({ document })).lineage;

const eventsOf = async (lineage: string, type: string): Promise<RecordedEvent[]> => {
  const { items } = await installation.client.events({ lineage, type });
  return items;
};

const first = (lineage: string, type: string): Promise<RecordedEvent> =>
  eventually(`${type} of ${lineage}`, async () => (await eventsOf(lineage, type))[0] ?? null, LONG_MS);

const addressesOf = (events: readonly RecordedEvent[]): unknown[] =>
  events.map(({ data }) => (data as { readonly address: string }).address).sort();

/** Kills a service and waits until another process has it. */
const bounced = async (service: Service): Promise<void> => {
  await installation.restarted(service, installation.kill(service));
};

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const statusOf = async (lineage: string): Promise<string | undefined> =>
  (await installation.client.waitForEnd(lineage, LONG_MS)).lineage?.status;

describe('a task in three parts, one of them in parts again', () => {
  test(
    'C1 C18 C19 it ends with exactly the planned children, and every epic closed once, whoever was killed on the way',
    async () => {
      const repository = await source('killed');
      const lineage = await submit(
        splitTask(repository.folder, {
          files: ['one', 'two', 'three'],
          nested: { three: ['left', 'right'] },
          branch: 'whole',
        }),
      );
      await first(lineage, 'epic_opened');
      await bounced('orchestrator');
      for (const service of ['executor', 'validator', 'decomposer', 'auditor'] as const) {
        const after = randomInt(LATEST_KILL_MS);
        process.stderr.write(`${service} is killed after ${after} ms\n`);
        await pause(after);
        await bounced(service);
      }

      expect(await statusOf(lineage)).toBe('completed');
      expect(addressesOf(await eventsOf(lineage, 'epic_opened'))).toEqual(['0', '0.3']);
      expect(addressesOf(await eventsOf(lineage, 'epic_closed'))).toEqual(['0', '0.3']);
      const resolved = await eventsOf(lineage, 'epic_child_resolved');
      expect(new Set(resolved.map(({ data }) => (data as { readonly child: string }).child)).size).toBe(5);
      expect(resolved).toHaveLength(5);
      expect(addressesOf(await eventsOf(lineage, 'task_completed'))).toEqual([
        '0',
        '0.1',
        '0.2',
        '0.3',
        '0.3.1',
        '0.3.2',
      ]);
      expect(await repository.files('whole')).toEqual(['left', 'log', 'one', 'right', 'two']);
    },
    2 * LONG_MS,
  );
});

describe('two parts that append to the same file', () => {
  test(
    'the merge of the second conflicts, it runs again from what the first left, and the delivered branch has both',
    async () => {
      const repository = await source('conflict');
      const lineage = await submit(appendTask(repository.folder, ['north', 'south'], 'both'));

      expect(await statusOf(lineage)).toBe('completed');
      const conflicts = await eventsOf(lineage, 'integration_failed');
      expect(conflicts.map(({ data }) => data)).toEqual([expect.objectContaining({ conflicts: 1, paths: ['log'] })]);
      const lines = (await repository.git('show', 'both:log')).split('\n');
      expect(lines.slice(0, 3)).toEqual(['first', 'second', 'third']);
      expect(lines.slice(3).sort()).toEqual(['north', 'south']);
      expect(await repository.git('show', 'main:log')).toBe('first\nsecond\nthird');
    },
    2 * LONG_MS,
  );
});

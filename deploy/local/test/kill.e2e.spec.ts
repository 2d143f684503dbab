import { join } from 'node:path';
import { examples } from '@fixpoint/examples/examples';
import { type ExampleRun, runExample } from '@fixpoint/examples/run-example';
import { eventually } from '@fixpoint/testing/eventually';
import { type TestDatabase, testDatabase } from '@fixpoint/testing/test-database';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { fedIds, storedIds } from './fed-ids.ts';
import { type HeldTask, heldTask } from './held-task.ts';
import { type RunningInstallation, type Service, startInstallation } from './installation.ts';
import { isRunning } from './machine-processes.ts';

/** Every example is in its right state so long after a kill. */
const PROMISED_MS = 60_000;
/** The examples are in the middle of their work when the longest has so many runs. */
const MIDDLE_RUNS = 4;

let database: TestDatabase;
let installation: RunningInstallation;

beforeAll(async () => {
  database = await testDatabase();
  installation = await startInstallation({ postgresUrl: database.url });
}, 120_000);

afterAll(async () => {
  await installation.stop();
  await database.close();
}, 60_000);

const startExamples = (folder: string): { done: Promise<readonly ExampleRun[]>; lineages: Map<string, string> } => {
  const { client, path } = installation;
  const lineages = new Map<string, string>();
  const onSubmitted = ({ name }: { name: string }, lineage: string) => void lineages.set(name, lineage);
  const options = { client, path, folder, timeoutMs: 2 * PROMISED_MS, onSubmitted };
  return { done: Promise.all(examples.map((example) => runExample(example, options))), lineages };
};

const inTheMiddle = async (lineages: ReadonlyMap<string, string>): Promise<boolean> => {
  const id = lineages.get('never-passes/tug-of-war');
  if (id === undefined || lineages.size < examples.length) return false;
  const { items } = await installation.client.runs({ lineage: id });
  return items.length >= MIDDLE_RUNS;
};

/** What the killed executor had started must not outlive it: the next one ends it before it takes any work. */
const afterTheKill = async (service: Service, victim: number, held: HeldTask): Promise<void> => {
  const command = await held.started();
  await installation.restarted(service, victim);
  if (service === 'executor') await eventually('the orphaned command is gone', () => !isRunning(command));
  else expect(isRunning(command)).toBe(true);
  await held.release();
};

const isFed = async (): Promise<boolean> => {
  const natsUrl = /nats:\S+/.exec(installation.bus)?.[0] ?? '';
  const [stored, fed] = [await storedIds(database.url), await fedIds(natsUrl)];
  return JSON.stringify(fed) === JSON.stringify(stored);
};

describe('kill -9 of one of five processes in the middle of the examples', () => {
  test.each<Service>(['orchestrator', 'validator', 'executor', 'decomposer', 'auditor'])(
    'A11 every example ends as it must after the %s was killed',
    async (service) => {
      const held = await heldTask(installation.folder, `held-${service}`);
      const { lineage } = await installation.client.submit({ document: held.document });
      await held.started();
      const { done, lineages } = startExamples(join(installation.folder, service));
      await eventually('the examples are in the middle', () => inTheMiddle(lineages), PROMISED_MS);

      const victim = installation.kill(service);
      const killedAt = performance.now();
      await afterTheKill(service, victim, held);
      const runs = await done;
      const ended = await installation.client.waitForEnd(lineage, PROMISED_MS);
      const tookMs = performance.now() - killedAt;

      process.stderr.write(`${service} killed: everything ended ${Math.round(tookMs)} ms later\n`);
      expect(runs.flatMap(({ example, surprises }) => surprises.map((each) => `${example.name}: ${each}`))).toEqual([]);
      expect(ended.lineage?.status).toBe('completed');
      expect(await held.pids()).toHaveLength(service === 'executor' ? 2 : 1);
      expect(tookMs).toBeLessThan(PROMISED_MS);
      await eventually('the feed has everything, in the order of the store', () => isFed(), PROMISED_MS);
    },
    4 * PROMISED_MS,
  );
});

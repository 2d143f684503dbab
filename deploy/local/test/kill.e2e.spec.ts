import { join } from 'node:path';
import { type Example, examples } from '@fixpoint/examples/examples';
import { runExample } from '@fixpoint/examples/run-example';
import { eventually } from '@fixpoint/testing/eventually';
import { type TestDatabase, testDatabase } from '@fixpoint/testing/test-database';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { fixpoint } from './command-line.ts';
import { fedIds, storedIds } from './fed-ids.ts';
import { type HeldTask, heldTask } from './held-task.ts';
import { type RunningInstallation, type Service, startInstallation } from './installation.ts';
import { isRunning } from './machine-processes.ts';

/** Every example that runs at the kill is in its right state so long after it. */
const PROMISED_MS = 60_000;
/** Of groups as large as the demonstration runs at a time; each is in the middle of its work when it has so many runs: about half of all that it takes. */
const MIDDLE_RUNS = [4, 12, 18, 4];

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

const startExamples = (started: readonly Example[], folder: string) => {
  const { client, path, workerUrl } = installation;
  const lineages: string[] = [];
  const options = {
    ...{ client, path, workerUrl, folder, decide, timeoutMs: 2 * PROMISED_MS },
    onSubmitted: (_: Example, lineage: string) => void lineages.push(lineage),
  };
  return { done: Promise.all(started.map((example) => runExample(example, options))), lineages };
};

/** Asked while a service is down it is asked again; taken although nobody said so, it is taken. */
const decide = async (handoff: string, args: readonly string[]): Promise<void> => {
  const isTaken = async (): Promise<boolean> => {
    if ((await fixpoint(installation, 'decide', handoff, ...args)) === 0) return true;
    const shown = await installation.client.handoff(handoff).catch(() => null);
    return shown !== null && shown.status !== 'open';
  };
  await eventually(`${handoff} is decided`, isTaken, PROMISED_MS);
};

const haveRuns = async (lineages: readonly string[], least: number): Promise<boolean> => {
  const runs = await Promise.all(lineages.map((lineage) => installation.client.runs({ lineage })));
  return runs.reduce((sum, { items }) => sum + items.length, 0) >= least;
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

const SERVICES: readonly Service[] = ['orchestrator', 'validator', 'executor', 'decomposer', 'auditor'];
const groups = MIDDLE_RUNS.map((middle, at) => {
  const group = examples.filter((_example, place) => place % MIDDLE_RUNS.length === at);
  return { at, middle, group, names: group.map(({ name }) => name).join(', ') };
});
/** The long form kills every service under every group, the short one each service under one group, and leaves none out. */
const isLong = process.env.FIXPOINT_TEST_FORM === 'long';
const cases = SERVICES.flatMap((service, killed) =>
  groups.filter(({ at }) => isLong || at === killed % groups.length).map((group) => ({ service, ...group })),
);

describe('kill -9 of one of five processes in the middle of the examples', () => {
  test.each(cases)(
    'A11 $names end as they must after the $service was killed',
    async ({ service, at, group, middle }) => {
      const held = await heldTask(installation.folder, `held-${service}-${at}`);
      const { lineage } = await installation.client.submit({ document: held.document });
      await held.started();
      const { done, lineages } = startExamples(group, join(installation.folder, `${service}-${at}`));
      await eventually(
        'the examples are in the middle',
        async () => lineages.length === group.length && haveRuns(lineages, middle),
        PROMISED_MS,
      );

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

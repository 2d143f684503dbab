import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readEvent } from '@fixpoint/contracts/events/parse-event';
import type { AskedDecision, DecidedHandoff } from '@fixpoint/contracts/rest/handoffs';
import { eventually } from '@fixpoint/testing/eventually';
import { type TestDatabase, testDatabase } from '@fixpoint/testing/test-database';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { fixpoint } from './command-line.ts';
import { type RunningInstallation, type Service, startInstallation } from './installation.ts';
import { type Source, sourceRepository } from './source-repository.ts';
import { splitTask } from './split-task.ts';

const LONG_MS = 120_000;
/** What the command line ends with when the installation says no. */
const REFUSED = 5;
const SERVICES: readonly Service[] = ['orchestrator', 'validator', 'executor', 'decomposer', 'auditor'];

let database: TestDatabase;
let installation: RunningInstallation;
/** Each waits for a human by the time that its test wants it. */
let waiting: Readonly<Record<'restart' | 'killed' | 'raced' | 'twice', string>>;

beforeAll(async () => {
  database = await testDatabase();
  installation = await startInstallation({ postgresUrl: database.url });
  const [restart, killed, raced, twice] = ['restart', 'killed', 'raced', 'twice'].map(stuck);
  if (!restart || !killed || !raced || !twice) throw new Error('four were submitted');
  waiting = { restart: await restart, killed: await killed, raced: await raced, twice: await twice };
}, LONG_MS);

afterAll(async () => {
  await installation.stop();
  await database.close();
}, LONG_MS);

const gate = (name: string): string => join(installation.folder, `${name}.open`);

/** A task that gets nowhere until its gate is there. @returns its lineage. */
const stuck = async (name: string): Promise<string> => {
  const document = JSON.stringify({
    ...{ kind: 'task/v1', name, project: 'e2e', goal: 'The gate is open' },
    recipe: { command: `test -e ${gate(name)} && touch passed` },
    postcondition: { command: 'test -e passed' },
  });
  return (await installation.client.submit({ document })).lineage;
};

/** Where a lineage comes to after a decision: what is shown must have seen that. */
const endAfter = async ({ lineage, cursor }: DecidedHandoff): Promise<string | undefined> => {
  if (cursor === null) throw new Error('a dry run decides nothing');
  await installation.client.lineage(lineage, cursor);
  return (await installation.client.waitForEnd(lineage, LONG_MS)).lineage?.status;
};

const handoffOf = (lineage: string): Promise<string> =>
  eventually(
    `a human is asked about ${lineage}`,
    async () => {
      const { items } = await installation.client.events({ lineage, type: 'human_required' });
      const last = items.at(-1);
      return last === undefined ? null : readEvent(last, 'human_required').handoff;
    },
    LONG_MS,
  );

const decide = (handoff: string, decision: AskedDecision, decisionId = randomUUID()) =>
  installation.client.decideHandoff(handoff, { version: 1, decision, decision_id: decisionId });

const decisionsOf = async (lineage: string): Promise<readonly string[]> => {
  const { items } = await installation.client.events({ lineage, type: 'human_decided' });
  return items.map((event) => readEvent(event, 'human_decided').decision.kind);
};

const bounced = async (service: Service): Promise<void> => {
  await installation.restarted(service, installation.kill(service));
};

const cli = (handoff: string, ...args: readonly string[]): Promise<number> =>
  fixpoint(installation, 'decide', handoff, ...args, '--seen', '1');

describe('a handoff', () => {
  test(
    'D2 outlives a restart of all five processes, and the decision after it goes on',
    async () => {
      const handoff = await handoffOf(waiting.restart);
      await Promise.all(SERVICES.map(bounced));
      await writeFile(gate('restart'), '');
      const decided = await eventually('it is taken', () => decide(handoff, { kind: 'retry' }).catch(() => null));
      expect(await endAfter(decided)).toBe('completed');
    },
    LONG_MS,
  );

  test(
    'D1 a decision that was answered stands, though the orchestrator is killed at once',
    async () => {
      const handoff = await handoffOf(waiting.killed);
      await writeFile(gate('killed'), '');
      const decided = await decide(handoff, { kind: 'retry' });
      await bounced('orchestrator');
      expect(await endAfter(decided)).toBe('completed');
      expect(await decisionsOf(waiting.killed)).toEqual(['retry']);
    },
    LONG_MS,
  );

  test(
    'D1 a decision that got no answer can be sent again, and is taken once',
    async () => {
      const handoff = await handoffOf(waiting.raced);
      await writeFile(gate('raced'), '');
      const id = randomUUID();
      const unanswered = decide(handoff, { kind: 'retry' }, id).catch(() => null);
      await bounced('orchestrator');
      await unanswered;
      const decided = await eventually('it is taken', () => decide(handoff, { kind: 'retry' }, id).catch(() => null));
      expect(decided.decision_id).toBe(id);
      expect(await endAfter(decided)).toBe('completed');
      expect(await decisionsOf(waiting.raced)).toEqual(['retry']);
    },
    LONG_MS,
  );

  test(
    'D7 of two decisions at the same time one is taken, and the other is refused',
    async () => {
      const handoff = await handoffOf(waiting.twice);
      await writeFile(gate('twice'), '');
      const codes = await Promise.all([cli(handoff, 'retry'), cli(handoff, 'resolve')]);
      expect([...codes].sort()).toEqual([0, REFUSED]);
      await eventually('the winner is seen', async () => (await decisionsOf(waiting.twice)).length > 0);
      expect(await decisionsOf(waiting.twice)).toEqual([codes[0] === 0 ? 'retry' : 'resolve']);
    },
    LONG_MS,
  );
});

describe('a branch that somebody else moved on', () => {
  /** A source whose branch `theirs` has a commit that no result holds. */
  const moved = async (name: string): Promise<Source> => {
    const source = await sourceRepository(join(installation.folder, name), installation.path);
    const elsewhere = join(installation.folder, `${name}-elsewhere`);
    await source.git('worktree', 'add', '-q', '-b', 'theirs', elsewhere, 'main');
    await source.git('-C', elsewhere, 'commit', '-q', '--allow-empty', '-m', 'theirs');
    await source.git('worktree', 'remove', elsewhere);
    return source;
  };
  const submit = async ({ folder }: Source): Promise<string> => {
    const document = splitTask(folder, { files: ['one', 'two'], branch: 'theirs' });
    return (await installation.client.submit({ document })).lineage;
  };

  test(
    'is left as it is; the verified work waits, and is delivered once a human has made way, or left undelivered',
    async () => {
      const [cleared, kept] = [await moved('cleared'), await moved('kept')];
      const lineages = [await submit(cleared), await submit(kept)] as const;
      const handoffs = [await handoffOf(lineages[0]), await handoffOf(lineages[1])] as const;
      const theirs = await kept.git('rev-parse', 'theirs');
      expect(await cleared.git('log', '-1', '--format=%s', 'theirs')).toBe('theirs');

      await cleared.git('branch', '-q', '-D', 'theirs');
      const delivered = await decide(handoffs[0], { kind: 'retry' });
      const undelivered = await decide(handoffs[1], { kind: 'resolve' });

      expect(await endAfter(delivered)).toBe('completed');
      expect(await endAfter(undelivered)).toBe('completed');
      expect(await cleared.files('theirs')).toEqual(['log', 'one', 'two']);
      expect(await kept.git('rev-parse', 'theirs')).toBe(theirs);
      const { items } = await installation.client.events({ lineage: lineages[0], type: 'epic_opened' });
      expect(items).toHaveLength(1);
    },
    2 * LONG_MS,
  );
});

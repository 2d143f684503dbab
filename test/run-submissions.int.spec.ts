import { CURSOR_START } from '@fixpoint/contracts/envelope';
import type { EventNamed, EventType } from '@fixpoint/contracts/events/catalogue';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { smallInstallation } from './small-installation.ts';

// Real processes on a busy machine.
jest.setTimeout(60_000);

let installation: Awaited<ReturnType<typeof smallInstallation>>;
beforeEach(async () => {
  installation = await smallInstallation();
});
afterEach(() => installation.close());

const TASK = { kind: 'task/v1', project: 'shop', mode: 'build' };
const CHILD = { ...TASK, name: 'part', goal: 'a part', recipe: { command: `echo '{"made": 3}'` } };

/** Submits the child, says what it was answered, and fails the first time; then waits for what it may not wait for. */
const SUBMITS = `
  const { FIXPOINT_URL: url, FIXPOINT_RUN_TOKEN: token } = process.env;
  const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json' };
  const body = JSON.stringify({ document: ${JSON.stringify(CHILD)}, idempotency_key: 'part' });
  const answer = await fetch(url + '/v1/tasks', { method: 'POST', headers, body });
  const { task, created } = await answer.json();
  const waiting = await fetch(url + '/v1/audit/lineages/' + task, { headers });
  console.error('with ' + token);
  console.log(JSON.stringify({ task, waiting: waiting.status, token }));
  if (created) process.exitCode = 1;`;

const isEnd = (root: string) => (event: EventNamed<EventType>) =>
  (event.type === 'task_completed' && event.data.task === root) || event.type === 'human_required';

test('C5 what a recipe submits is a child that its next node is told of; a run that is repeated finds it again', async () => {
  const { lineage: root } = await installation.submit({
    ...{ ...TASK, name: 'whole', goal: 'the whole' },
    nodes: [
      { id: 'plan', recipe: { script: SUBMITS, language: 'node' } },
      { id: 'use', recipe: { command: 'printf %s "$FIXPOINT_CHILDREN"' } },
    ],
  });
  const events = await installation.until(root, isEnd(root));
  expect(events.at(-1)?.type).not.toBe('human_required');
  const submitted = events.filter((event) => event.type === 'child_submitted');
  expect(submitted).toMatchObject([{ data: { task: root, run: 1, node_id: 'plan', split_depth: 1 } }]);
  const done = events.filter((event) => event.type === 'node_completed' && event.data.task === root);
  expect(done).toMatchObject([
    { data: { output: { task: `${root}.1`, waiting: 409, token: '***' } } },
    { data: { output: [{ task: `${root}.1`, name: 'part', outcome: 'satisfied', output: { made: 3 } }] } },
  ]);
});

test('no event and no stored output shows the token of a run', async () => {
  const recipe = { command: 'env; echo $FIXPOINT_RUN_TOKEN >&2; test -n "$FIXPOINT_RUN_TOKEN" && touch done' };
  const check = { command: 'echo "it is <$FIXPOINT_RUN_TOKEN>"; test -z "$FIXPOINT_RUN_TOKEN" && test -e done' };
  const shown = { ...TASK, name: 'shown', goal: 'shown', recipe, postcondition: check };
  const { lineage: root } = await installation.submit(shown);
  const events = await installation.until(root, isEnd(root));
  expect(events.at(-1)?.type).not.toBe('human_required');
  const { events: all } = await installation.store.readAll(CURSOR_START, 1_000);
  const passed = all.find(({ type }) => type === 'governance_passed')?.data as { token: string };
  const others = all.filter(({ type }) => type !== 'governance_passed');
  expect(JSON.stringify(others)).not.toContain(passed.token);
  const calls = others.filter(({ type }) => type === 'tool_called').map(({ data }) => data as Call);
  expect(calls.find(({ tool }) => tool === 'recipe')?.stdout?.head).toContain('FIXPOINT_RUN_TOKEN=***');
  for (const { stdout } of calls) {
    const stored = stdout?.hash ? await textOf(stdout.hash) : '';
    expect(stored).not.toContain(passed.token);
  }
});

interface Call {
  readonly tool: string;
  readonly stdout: { readonly hash: string | null; readonly head: string } | null;
}

const textOf = async (hash: string): Promise<string> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of (await installation.artifacts.get(hash)) ?? []) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};

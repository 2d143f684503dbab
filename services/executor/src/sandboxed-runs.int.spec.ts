import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findSandbox, refusingSandbox, type SandboxSupport } from '@fixpoint/execution/sandbox/find-sandbox';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { commandHolds, executorWorld } from './run-reader.fixture.ts';

// Real processes and real git on a busy machine.
jest.setTimeout(60_000);

let support: SandboxSupport;
let folder = '';
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fixpoint-sandboxed-'));
  support = await findSandbox({ path: '/usr/local/bin:/usr/bin:/bin', folder });
  // Never passed over: where it is missing these tests have to say so.
  expect(support).toMatchObject({ works: true });
});
afterAll(() => rmSync(folder, { recursive: true }));

const MISSING = { works: false, detail: 'bubblewrap is not installed' };

const sandboxed = (
  requirement: 'required' | 'preferred' | 'none',
  found: Pick<SandboxSupport, 'works' | 'detail'>,
) => ({
  policy: { requirement, support: found, readable: [] },
  sandbox: found.works ? support.sandbox : refusingSandbox(found.detail),
});

describe('a run', () => {
  let world: ReturnType<typeof executorWorld>;
  afterEach(() => world.close());

  const act = async (node: Parameters<typeof world.gated>[0], more: Parameters<typeof world.gated>[1] = {}) => {
    expect(await world.offer(await world.gated(node, more))).toEqual({ verdict: 'done' });
    return world.actionEvents();
  };

  test.each([
    ['a recipe', { recipe: { command: 'touch /tmp/fixpoint-must-not-run' } }],
    [
      'a check',
      { recipe: { primitive: 'file-write', with: { path: 'a', content: '' } }, postcondition: commandHolds('true') },
    ],
    [
      'an agent',
      {
        recipe: { primitive: 'file-write', with: { path: 'a', content: '' } },
        policy: 'recover',
        max_agent_attempts: 1,
      },
    ],
  ] as const)('with %s is refused where a required sandbox is missing', async (_, node) => {
    world = executorWorld({ sandbox: sandboxed('required', MISSING) });
    const events = await act(node as Parameters<typeof world.gated>[0]);
    expect(events.map(({ type, data }) => [type, (data as { reason: string }).reason])).toEqual([
      ['run_refused', 'sandbox_unavailable'],
    ]);
    expect(existsSync('/tmp/fixpoint-must-not-run')).toBe(false);
  });

  test('that starts no process needs no sandbox', async () => {
    world = executorWorld({ sandbox: sandboxed('required', MISSING) });
    await act({ recipe: { primitive: 'file-write', with: { path: 'a', content: 'x' } } });
    expect(await world.report()).toMatchObject({ outcome: 'satisfied' });
  });

  test('falls back only where its mode says that a sandbox is preferred', async () => {
    world = executorWorld({ sandbox: sandboxed('required', MISSING), mode: { sandbox: { require: 'preferred' } } });
    await act({ recipe: { command: 'echo $$ > pid; test "$(cat pid)" -gt 20' } });
    expect(await world.report()).toMatchObject({ outcome: 'satisfied' });
  });

  test('that asks for the network is refused where its mode forbids it', async () => {
    world = executorWorld({ sandbox: sandboxed('required', support), mode: { sandbox: { network: 'forbidden' } } });
    expect((await act({ network: true })).at(-1)?.data).toMatchObject({ reason: 'network_forbidden' });
  });

  test('has its recipe, its checks and its git in the sandbox', async () => {
    world = executorWorld({ sandbox: sandboxed('required', support) });
    const inside = 'test "$(grep -c : /proc/net/dev)" = 1 && test "$(ls -d /proc/[0-9]* | wc -l)" -lt 12';
    await act(
      {
        recipe: {
          command: `${inside} && git log --oneline | grep start && echo red > colour && git commit -qam red && touch done`,
        },
        postcondition: commandHolds(`${inside} && test -e done && git show HEAD:colour | grep red`),
      },
      { source: { url: world.repository(), ref: 'main' } },
    );
    expect(await world.calls()).toMatchObject([{ outcome: 'failed' }, { outcome: 'ok' }, { outcome: 'ok' }]);
    expect(await world.report()).toMatchObject({ outcome: 'satisfied', rung: 'recipe' });
  });

  test('can read neither the executor nor the workspace of another run', async () => {
    world = executorWorld({ sandbox: sandboxed('required', support) });
    const text = `ls ${world.folder}/runs | wc -l; ls ${world.folder}; tr '\\0' '\\n' < /proc/1/environ | grep -c JEST`;
    await act({ recipe: { command: `(${text}) > seen 2>&1; cat seen` } });
    expect(await world.report()).toMatchObject({ output: '1\ncommands\nruns\nworkspaces\n0\n' });
  });
});

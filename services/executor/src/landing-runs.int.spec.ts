import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkspaceRef } from '@fixpoint/contracts/workspace';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { commandHolds, executorWorld } from './run-reader.fixture.ts';

let world: ReturnType<typeof executorWorld>;
let url: string;
let base: WorkspaceRef;

beforeEach(async () => {
  world = executorWorld();
  url = world.repository();
  base = await world.workspaces.resolve({ url, ref: 'main' });
});

afterEach(() => world.close());

/** A workspace in which a shell has worked. */
const worked = async (from: WorkspaceRef, run: number, script: string): Promise<WorkspaceRef> => {
  const folder = join(mkdtempSync(join(world.folder, 'work-')), 'folder');
  await world.workspaces.materialise(from, folder);
  execFileSync('sh', ['-ec', script], { cwd: folder, stdio: 'ignore' });
  return world.workspaces.capture(folder, from, { keep: [], refName: `refs/fixpoint/r/made/${run}` });
};

const commit = (script: string): string => `${script}; git add -A; git commit -qm work`;

const fileOf = async (ref: unknown, name: string): Promise<string> => {
  const folder = join(mkdtempSync(join(world.folder, 'look-')), 'folder');
  await world.workspaces.materialise(ref as WorkspaceRef, folder);
  return readFileSync(join(folder, name), 'utf8');
};

describe('an integrate run', () => {
  const integrate = async (
    {
      ours,
      theirs,
      base: from = base,
    }: { ours: WorkspaceRef | null; theirs: WorkspaceRef; base?: WorkspaceRef | null },
    postcondition = commandHolds('test -f mine && test -f yours'),
  ) =>
    world.offer(
      await world.gated(
        { postcondition, recipe: { command: 'touch recipe-was-run' } },
        { run_kind: 'integrate', purpose: 'landing', workspace_ref: ours, merge: { epic: 'r.e1', theirs, base: from } },
      ),
    );

  test('H-T32 merges, and asks the own check of the whole without running the recipe', async () => {
    const ours = await worked(base, 1, commit('echo > mine'));
    const theirs = await worked(base, 2, commit('echo > yours'));
    expect(await integrate({ ours, theirs })).toEqual({ verdict: 'done' });
    const report = await world.report();
    expect(report).toMatchObject({ outcome: 'satisfied', rung: 'check', postcondition_met: true, merge_conflicts: [] });
    expect(report).toMatchObject({ run_kind: 'integrate', workspace_ref: { base: base.base } });
    await expect(fileOf(report.workspace_ref, 'recipe-was-run')).rejects.toThrow('ENOENT');
    expect((await world.calls()).map(({ tool, outcome }) => `${tool} ${outcome}`)).toEqual([
      'merge ok',
      'postcondition ok',
    ]);
  });

  test('that clashes is unmet, names the paths, and leaves the merge in which the epic stands', async () => {
    const ours = await worked(base, 1, commit('echo ours > colour'));
    const theirs = await worked(base, 2, commit('echo theirs > colour; echo > yours'));
    await integrate({ ours, theirs });
    const report = await world.report();
    expect(report).toMatchObject({
      outcome: 'unmet',
      rung: 'none',
      postcondition_met: null,
      merge_conflicts: ['colour'],
    });
    expect(report.detail).toBe('1 path clashes with what the epic holds: colour');
    expect(await fileOf(report.workspace_ref, 'colour')).toBe('ours\n');
    expect(await fileOf(report.workspace_ref, 'yours')).toBe('\n');
    expect((await world.calls()).map(({ tool, outcome }) => `${tool} ${outcome}`)).toEqual(['merge failed']);
  });

  test('whose whole does not hold is unmet without a conflict', async () => {
    const ours = await worked(base, 1, commit('echo > mine'));
    const theirs = await worked(base, 2, commit('echo > yours'));
    await integrate({ ours, theirs }, commandHolds('test ! -f mine'));
    expect(await world.report()).toMatchObject({ outcome: 'unmet', postcondition_met: false, merge_conflicts: [] });
  });

  test('whose check can not run says nothing, and leaves the epic where it was', async () => {
    const ours = await worked(base, 1, commit('echo > mine'));
    const theirs = await worked(base, 2, commit('echo > yours'));
    await integrate({ ours, theirs }, commandHolds('no-such-program-anywhere'));
    expect(await world.report()).toMatchObject({ outcome: 'indeterminate', workspace_ref: { commit: ours.commit } });
  });

  test('into an epic that holds nothing is what the child has', async () => {
    const theirs = await worked(base, 2, commit('echo > mine; echo > yours'));
    await integrate({ ours: null, theirs, base: null });
    expect(await world.report()).toMatchObject({ outcome: 'satisfied', workspace_ref: theirs });
  });

  test('of a gate runs the gate on the whole; checks of an output are not asked, since nothing was put out', async () => {
    const theirs = await worked(base, 2, commit('echo > yours'));
    const gate = { kind: 'gate' as const, recipe: { command: 'test -f yours' }, postcondition: null };
    const merge = { epic: 'r.e1', theirs, base };
    const more = { run_kind: 'integrate' as const, workspace_ref: base, merge };
    await world.offer(await world.gated(gate, more));
    expect(await world.report()).toMatchObject({ outcome: 'satisfied', rung: 'check', postcondition_met: true });
    const schema = { all: [{ json_schema: { type: 'number' }, timeout_ms: 1000 }] };
    await world.offer(await world.gated({ kind: 'compute', postcondition: schema }, { ...more, run: 2 }));
    expect(await world.report(2)).toMatchObject({ outcome: 'satisfied', rung: 'none', postcondition_met: null });
  });

  test('needs a lease and a token like any run, also of what would need no folder', async () => {
    world.setToken({ valid: false, reason: 'token_invalid', detail: 'minted for another start_hash' });
    const theirs = await worked(base, 2, commit('echo > yours'));
    await integrate({ ours: base, theirs });
    expect((await world.actionEvents()).map(({ type }) => type)).toEqual(['run_refused']);
    world.setToken({ valid: true, claims: { jti: 'n' } as never });
    const merge = { epic: 'r.e1', theirs, base };
    const memory = { recipe: { primitive: 'noop', with: {} } };
    await world.offer(await world.gated(memory, { run: 2, run_kind: 'integrate', workspace_ref: base, merge }));
    expect(await world.report(2)).toMatchObject({ outcome: 'satisfied', workspace_ref: theirs });
  });
});

describe('a deliver run', () => {
  const deliver = async (ref: WorkspaceRef, branch: string, run = 1, to = url) =>
    world.offer(
      await world.gated(
        { recipe: { command: 'touch recipe-was-run' } },
        { run, run_kind: 'deliver', purpose: 'landing', workspace_ref: ref, deliver: { git: { url: to, branch } } },
      ),
    );
  const git = (...args: string[]): string =>
    execFileSync('git', ['-C', url, ...args])
      .toString()
      .trim();

  test('brings the result to its branch, and says so before it ends', async () => {
    const ref = await worked(base, 1, commit('echo > done'));
    expect(await deliver(ref, 'fixpoint/done')).toEqual({ verdict: 'done' });
    expect(git('rev-parse', 'fixpoint/done')).toBe(ref.head);
    expect((await world.actionEvents()).map(({ type }) => type)).toEqual([
      ...['action_started', 'tool_called', 'result_delivered', 'node_verified_action'],
    ]);
    expect(await world.report()).toMatchObject({ outcome: 'satisfied', postcondition_met: true, workspace_ref: ref });
    const [, , told] = await world.actionEvents();
    expect(told?.data).toMatchObject({ url, branch: 'fixpoint/done', commit: ref.head, already: false });
  });

  test('is good for any number of times', async () => {
    const ref = await worked(base, 1, commit('echo > done'));
    await deliver(ref, 'fixpoint/done');
    await deliver(ref, 'fixpoint/done', 2);
    const told = (await world.actionEvents(2)).find(({ type }) => type === 'result_delivered');
    expect(told?.data).toMatchObject({ commit: ref.head, already: true });
  });

  test('H-T34 to a branch that moved on is unmet, says why, and leaves both as they were', async () => {
    await deliver(await worked(base, 1, commit('echo > other')), 'fixpoint/done');
    const before = git('rev-parse', 'fixpoint/done');
    const ref = await worked(base, 2, commit('echo > done'));
    await deliver(ref, 'fixpoint/done', 2);
    const report = await world.report(2);
    expect(report).toMatchObject({ outcome: 'unmet', workspace_ref: ref, postcondition_met: false });
    expect(report.detail).toContain(before);
    expect(git('rev-parse', 'fixpoint/done')).toBe(before);
    expect((await world.actionEvents(2)).map(({ type }) => type)).not.toContain('result_delivered');
  });

  test('to where nobody answers is a fault of the network that names the host it was pushed to', async () => {
    await deliver(base, 'fixpoint/done', 1, 'http://127.0.0.1:9/shop.git');
    expect(await world.report()).toMatchObject({
      ...{ outcome: 'faulted', fault_class: 'network' },
      provider_fault: { provider: 'git.127.0.0.1', retry_after_ms: 0 },
    });
  });

  test('that is stopped before it began ends as cancelled or shut down, not as a fault of git', async () => {
    const offer = await world.gated(
      {},
      {
        run_kind: 'deliver',
        workspace_ref: base,
        deliver: { git: { url, branch: 'fixpoint/x' } },
        allowance: { ...ALLOWANCE, time_ms: 1 },
      },
    );
    await world.offer(offer);
    expect(await world.report()).toMatchObject({ outcome: 'faulted', fault_class: 'run_timeout' });
  });
});

const ALLOWANCE = { time_ms: 60_000, money_micros: 0, tokens: 0 };

test('what a stopped run leaves in the cache goes with it', async () => {
  writeFileSync(join(world.folder, 'marker'), '');
  await world.offer(await world.gated({ recipe: { command: 'touch x' } }, { workspace_ref: base }));
  expect(execFileSync('ls', [join(world.folder, 'runs')]).toString()).toBe('');
});

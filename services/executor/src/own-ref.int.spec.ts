import { execFileSync } from 'node:child_process';
import type { WorkspaceRef } from '@fixpoint/contracts/workspace';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { commandHolds, executorWorld } from './run-reader.fixture.ts';

let world: ReturnType<typeof executorWorld>;
beforeEach(() => {
  world = executorWorld();
});
afterEach(() => world.close());

const byHand = (url: string): void => {
  const commit = "git -c user.name=t -c user.email=t@t.invalid commit -qam 'by hand'";
  const script = `git switch -qc fixed; echo green > colour; ${commit}; git switch -q main`;
  execFileSync('sh', ['-ec', script], { cwd: url, stdio: 'ignore' });
};

test('what a human did before any run has left a workspace is an addition to the source that the lineage has', async () => {
  const url = world.repository();
  const begun = await world.workspaces.resolve({ url, ref: 'main' });
  byHand(url);
  const run = { run_kind: 'check', source: { url, ref: 'fixed' }, workspace_ref: null, decisions: ['a.b.c'] } as const;
  const more = { ...run, decisions: [...run.decisions], compared_with: { url, ref: 'main' } };
  await world.offer(await world.gated({ postcondition: commandHolds('grep -q green colour') }, more));
  const ref = (await world.report())?.workspace_ref as WorkspaceRef;
  const fixed = await world.workspaces.resolve({ url, ref: 'fixed' });
  expect(ref).toMatchObject({ source: begun.source, base: begun.base, commit: fixed.commit, tree: fixed.tree });
  expect((await world.workspaces.diff(begun, ref)).files).toEqual([{ path: 'colour', change: 'modified' }]);
});

test('what a human did on a ref of theirs is checked there, and is an addition to what the lineage began with', async () => {
  const url = world.repository();
  const begun = await world.workspaces.resolve({ url, ref: 'main' });
  byHand(url);
  const node = { postcondition: commandHolds('echo dirt > dirt && grep -q green colour') };
  const run = { run_kind: 'check', source: { url, ref: 'fixed' }, workspace_ref: begun, decisions: ['a.b.c'] } as const;
  await world.offer(await world.gated(node, { ...run, decisions: [...run.decisions] }));
  const report = await world.report();
  const fixed = await world.workspaces.resolve({ url, ref: 'fixed' });
  expect(report).toMatchObject({
    outcome: 'satisfied',
    workspace_ref: { source: begun.source, base: begun.base, commit: fixed.commit, tree: fixed.tree },
  });
  const ref = report?.workspace_ref as WorkspaceRef;
  expect((await world.workspaces.diff(begun, ref)).files).toEqual([{ path: 'colour', change: 'modified' }]);
});

import type { WorkspaceRef } from '@fixpoint/contracts/workspace';
import { describe, expect, test } from '@jest/globals';
import { nodeSpec, Play, ref, taskSpec } from '../lineage.fixture.ts';

const SOURCE = { url: 'https://git.example/shop', ref: 'main' };

const two = (more: object = {}) => ({
  ...taskSpec([nodeSpec({ id: 'one' }), nodeSpec({ id: 'two' })]),
  workspace: { git: SOURCE, keep: [] },
  ...more,
});

/** Its second node has stalled after the first one left `accepted`. */
const stalledAfter = (accepted: WorkspaceRef): Play => {
  const play = new Play().submit(two());
  play.judge([], { workspace_ref: accepted }, { workspace_ref: accepted });
  for (const tree of ['a', 'b', 'c']) play.unmet(tree);
  return play;
};

const asFetched: WorkspaceRef = { ...ref('x'), base: 'b'.repeat(40), head: 'b'.repeat(40), commit: 'b'.repeat(40) };

describe('whether a goal is met meanwhile', () => {
  test('H-T20 H-T75 H-B04 is looked up in the source as it is now', () => {
    const play = new Play().submit(two({ nodes: [nodeSpec()] }));
    for (const tree of ['a', 'b', 'c']) play.unmet(tree);
    expect(play.ready).toMatchObject({ purpose: 'met_meanwhile', workspace_ref: null, source: SOURCE });
  });

  test('H-T21 H-T39 H-T41 ends the unit without a split, without a human and without a loss of rank', () => {
    const play = new Play().submit(two({ nodes: [nodeSpec()] }));
    for (const tree of ['a', 'b', 'c']) play.unmet(tree);
    expect(play.judge([], { workspace_ref: ref('landed') })).toEqual(['node_completed', 'task_completed']);
    expect(play.last('task_completed').workspace_ref).toEqual(ref('landed'));
    expect([play.count('human_required'), play.count('affinity_changed')]).toEqual([0, 0]);
  });

  test('H-T77 is asked of the source, too, while earlier nodes have added nothing to it', () => {
    expect(stalledAfter(asFetched).ready).toMatchObject({ purpose: 'met_meanwhile', workspace_ref: null });
  });

  test('is asked of the accepted work alone where there is some: it would be lost', () => {
    const accepted = { ...asFetched, commit: 'c'.repeat(40) };
    expect(stalledAfter(accepted).ready).toMatchObject({ purpose: 'met_meanwhile', workspace_ref: accepted });
  });

  test.each(['unmet', 'indeterminate'] as const)(
    'H-T24 H-T25 H-T27 H-T29 H-T30 H-T89 is not believed without a check that holds: %s',
    (outcome) => {
      const play = new Play().submit(two({ nodes: [nodeSpec()] }));
      for (const tree of ['a', 'b', 'c']) play.unmet(tree);
      play.end({ outcome, postcondition_met: null });
      expect(play.count('task_completed')).toBe(0);
      expect(play.count('decomposition_requested')).toBe(outcome === 'unmet' ? 1 : 0);
    },
  );

  test('H-T22 is asked once as long as nobody tries anything', () => {
    const play = new Play().submit(two({ nodes: [nodeSpec()] }));
    for (const tree of ['a', 'b', 'c', 'd']) play.unmet(tree);
    const checks = play.facts.filter((fact) => fact.type === 'node_ready' && fact.data.purpose === 'met_meanwhile');
    expect(checks.length).toBe(1);
  });
});

import { describe, expect, test } from '@jest/globals';
import { audited } from './audited-event.ts';
import { childResolved, epicClosed, epicOpened, recomposeFailed, recomposeStarted } from './epic-history.fixture.ts';
import { epicRules } from './epics.ts';
import { foldRows } from './fold-rows.ts';
import { at, recorded, telling } from './history.fixture.ts';

const rowAfter = (...events: readonly { type: string; data: unknown }[]) => {
  const { told, tell } = telling();
  for (const event of events) tell('lineage-r1', 'r1', event);
  return foldRows(epicRules, new Map(), recorded(told).map(audited)).get('r1.e1');
};

describe('epic row', () => {
  test('begins with all children at once', () => {
    expect(rowAfter(epicOpened('r1', 2))).toMatchObject({
      ...{ epic: 'r1.e1', lineage: 'r1', task: 'r1', address: '0', status: 'open', closes_by: 'recompose' },
      children: [
        { task: 'r1.1', address: '0.1', name: 'slice 1', salvage: true, state: 'open', conflicts: 0 },
        { task: 'r1.2', address: '0.2', name: 'slice 2', salvage: false, state: 'open', conflicts: 0 },
      ],
      ...{ open_children: 2, attempts: 0, split_depth: 1, opened_at: at(0), closed_at: null },
    });
  });

  test('H-T100 follows its children, its failed assemblies and its end', () => {
    const proved = [epicOpened('r1', 2), childResolved('r1', 'r1.2', 1), childResolved('r1', 'r1.1', 0)];
    expect(rowAfter(...proved.slice(0, 2))).toMatchObject({
      children: [{ state: 'open' }, { state: 'resolved' }],
      open_children: 1,
    });
    const failed = [...proved, recomposeStarted('r1', 1), recomposeFailed('r1', 1)];
    expect(rowAfter(...failed.slice(0, 4))).toMatchObject({ status: 'recomposing', next_at: null });
    expect(rowAfter(...failed)).toMatchObject({ status: 'open', attempts: 1, next_at: at(9_000) });
    expect(rowAfter(...failed, recomposeStarted('r1', 2), epicClosed('r1', 2))).toMatchObject({
      ...{ status: 'closed', attempts: 1, next_at: null, open_children: 0, closed_at: at(6) },
    });
  });

  test('counts the merges of a child that failed, and what a human left out', () => {
    const ref = { root: 'r1', address: '0.1', epic: 'r1.e1' };
    const conflict = {
      type: 'integration_failed',
      data: {
        ...{ ...ref, task: 'r1.1', run: 3, conflicts: 2, limit: 3, paths: ['a'], detail: '' },
        ...{ base_ref: null, workspace_ref: null, own_ref: null },
        failure_signal: { intent: '', justifications: [], prior_failures: [] },
      },
    };
    const excluded = {
      type: 'child_excluded',
      data: { ...ref, task: 'r1', child: 'r1.2', decision: 'h1', reason: 'not needed' },
    };
    expect(rowAfter(epicOpened('r1', 2), conflict, excluded)).toMatchObject({
      children: [
        { state: 'open', conflicts: 2 },
        { state: 'excluded', conflicts: 0 },
      ],
      open_children: 1,
    });
  });

  test('begins with nothing but a split', () => {
    expect(rowAfter(childResolved('r1', 'r1.2', 1))).toBeUndefined();
  });
});

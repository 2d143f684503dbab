import { describe, expect, test } from '@jest/globals';
import { audited } from './audited-event.ts';
import { foldRows } from './fold-rows.ts';
import { expired } from './handoff-history.fixture.ts';
import {
  at,
  blocked,
  completed,
  exhausted,
  humanRequired,
  ready,
  recorded,
  repaired,
  runOf,
  skipped,
  spawned,
  submitted,
  telling,
  withdrawn,
} from './history.fixture.ts';
import { taskRules } from './tasks.ts';

const rowAfter = (...events: readonly { type: string; data: unknown }[]) => {
  const { told, tell } = telling();
  tell('lineage-r1', 'r1', submitted('r1'));
  for (const event of events) tell('lineage-r1', 'r1', event);
  return foldRows(taskRules, new Map(), recorded(told).map(audited));
};

describe('task row', () => {
  test('shows a root and its fix as they ended', () => {
    const { told, tell } = telling();
    repaired('r1', { told, tell });
    const rows = foldRows(taskRules, new Map(), recorded(told).map(audited));
    expect(rows.get('r1')).toMatchObject({
      address: '0',
      parent: null,
      kind: 'root',
      name: 'commit-deps',
      status: 'completed',
      runs: 2,
      node: 'commit',
      nodes: 1,
      rung: 'recipe',
      depth: 0,
      fix_attempts: 1,
      ended_at: at(told.length - 1),
    });
    expect(rows.get('r1.f1')).toMatchObject({
      lineage: 'r1',
      address: '0~1',
      parent: 'r1',
      kind: 'fix',
      name: 'fix lint',
      goal: 'Make lint pass',
      status: 'completed',
      depth: 1,
      runs: 1,
      fix_attempts: 0,
      triggering_validators: ['lint'],
    });
    expect([...rows.keys()]).toEqual(['r1', 'r1.f1']);
  });

  test('shows the nodes that were skipped, in order, and the result of the task as JSON', () => {
    const end = completed('r1', 'r1');
    const rows = rowAfter(
      skipped('r1', 'b'),
      skipped('r1', 'c', { runs: 2, condition: `inputs.a == '${'x'.repeat(3_000)}'` }),
      { ...end, data: { ...end.data, output: { n: ['é', null] }, output_artifact: null } },
    );
    const row = rows.get('r1');
    expect(row?.skipped).toEqual([
      { node: 'b', condition: 'inputs.go', runs: 1 },
      { node: 'c', condition: expect.stringMatching(/^inputs\.a == 'x{1900,}…$/), runs: 2 },
    ]);
    expect([row?.output, row?.output_artifact]).toEqual(['{"n":["é",null]}', null]);
  });

  test('has no result before its end, a cut one where it is long, and a hash where it is in no event', () => {
    expect(rowAfter(skipped('r1', 'b')).get('r1')).toMatchObject({ output: null, output_artifact: null });
    const end = completed('r1', 'r1');
    const ended = (data: object) => rowAfter({ ...end, data: { ...end.data, ...data } }).get('r1');
    expect(ended({ output: 'x'.repeat(9_000) })?.output).toMatch(/^"x{1999}…$/);
    expect(ended({ output_artifact: 'a'.repeat(64) })).toMatchObject({ output: null, output_artifact: 'a'.repeat(64) });
  });

  test('a fix that fixes a fix charges the unit and not its parent', () => {
    const nested = spawned('r1', 2, { parent_ref: 'r1.f1', task_ref: 'r1.f1.f1', depth: 2, recovery_depth: 2 });
    const rows = rowAfter(spawned('r1', 1), nested);
    expect([...rows.values()].map(({ task, fix_attempts, depth }) => [task, fix_attempts, depth])).toEqual([
      ['r1', 2, 0],
      ['r1.f1', 0, 1],
      ['r1.f1.f1', 0, 2],
    ]);
  });

  test('an exhausted recovery ends the open fixes, and the unit goes to a human', () => {
    const rows = rowAfter(spawned('r1', 1), spawned('r1', 2), completed('r1', 'r1.f1'), exhausted('r1', ['r1.f2']));
    expect(rows.get('r1.f1')).toMatchObject({ status: 'completed' });
    expect(rows.get('r1.f2')).toMatchObject({
      status: 'exhausted',
      ended_at: at(4),
      raw_halt_type: 'max_recovery_depth',
    });
    expect(rows.get('r1')).toMatchObject({ status: 'exhausted', ended_at: null });
    expect(rowAfter(exhausted('r1', []), humanRequired('r1')).get('r1')).toMatchObject({
      status: 'human',
      ended_at: null,
    });
  });

  test('an ended fix stays as it ended', () => {
    const rows = rowAfter(spawned('r1', 1), completed('r1', 'r1.f1'), exhausted('r1', ['r1.f1']));
    expect(rows.get('r1.f1')).toMatchObject({ status: 'completed', ended_at: at(2), halt_type: null });
  });

  test('a blocked task has ended and names the cause', () => {
    expect(rowAfter(blocked('r1', 'r1')).get('r1')).toMatchObject({
      status: 'blocked',
      halt_type: 'blocker',
      raw_halt_type: 'secrets',
      ended_at: at(1),
    });
  });

  test.each(['task_cancelled', 'task_abandoned'] as const)('%s ends a unit and what is open below it', (type) => {
    const end = { type, data: { root: 'r1', task: 'r1', address: '0', ended_tasks: ['r1.f1'], reason: 'enough' } };
    const ended = { ...end, data: { ...end.data, handoff: 'r1.h1', stopped_runs: [] } };
    const rows = rowAfter(spawned('r1', 1), ended);
    const own = type === 'task_cancelled' ? 'cancelled' : 'abandoned';
    expect(rows.get('r1')).toMatchObject({ status: own, ended_at: at(2) });
    expect(rows.get('r1.f1')).toMatchObject({ status: 'cancelled', ended_at: at(2) });
    expect(rowAfter(blocked('r1', 'r1'), ended).get('r1')).toMatchObject({ status: 'blocked', ended_at: at(1) });
  });

  test('runs on when its handoff ran out and is tried again, and waits on where it is kept', () => {
    const rows = rowAfter(spawned('r1', 1), humanRequired('r1'), expired('r1'));
    expect(rows.get('r1')).toMatchObject({ status: 'running', halt_type: null });
    expect(rows.get('r1.f1')).toMatchObject({ status: 'stalled' });
    expect(rowAfter(humanRequired('r1'), expired('r1', 'keep')).get('r1')).toMatchObject({ status: 'human' });
  });

  test('runs on when its handoff is withdrawn', () => {
    expect(rowAfter(humanRequired('r1'), withdrawn('r1')).get('r1')).toMatchObject({
      status: 'running',
      halt_type: null,
    });
    expect(rowAfter(blocked('r1', 'r1'), withdrawn('r1')).get('r1')).toMatchObject({ status: 'blocked' });
  });

  test('shows the node of its newest run', () => {
    const second = ready(runOf('r1', 'r1', 2));
    const node = { ...second.data.node, id: 'push' };
    const rows = rowAfter(ready(runOf('r1', 'r1', 1)), { ...second, data: { ...second.data, node } });
    expect(rows.get('r1')).toMatchObject({ node: 'push', runs: 2 });
  });

  test('nothing is shown of a task whose beginning is not known', () => {
    expect(rowAfter(ready(runOf('r1', 'r9', 1))).has('r9')).toBe(false);
    expect(rowAfter(spawned('r1', 1, { unit: 'r9' })).has('r9')).toBe(false);
  });
});

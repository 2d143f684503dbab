import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { smallBounds } from './bounds.ts';
import { type Explored, explore } from './explore.ts';

jest.setTimeout(10 * 60_000);

describe('everything that can be told to a lineage, in every order, at small bounds', () => {
  let explored: Explored;
  beforeAll(() => {
    explored = explore(smallBounds());
  });

  test('breaks no rule in any state, and no late or repeated answer changes one', () => {
    expect(explored.broken).toBeNull();
  });

  test('is everything: no state is left out', () => {
    expect(explored.isWhole).toBe(true);
    expect(explored.states).toBeGreaterThan(10_000);
    process.stderr.write(`${explored.states} states, ${explored.moves} moves, ${explored.late} late answers\n`);
  });

  test('comes by splits, merges that fail, assemblies that fail, fixes, faults and handoffs', () => {
    expect(explored.types).toEqual(
      expect.arrayContaining([
        ...['epic_opened', 'integration_failed', 'epic_child_resolved', 'recompose_started', 'recompose_failed'],
        ...[
          'epic_closed',
          'subtask_spawned',
          'recovery_resolved',
          'fault_recorded',
          'human_required',
          'task_completed',
        ],
      ]),
    );
  });
});

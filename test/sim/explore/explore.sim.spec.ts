import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { peopleBounds, smallBounds } from './bounds.ts';
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

describe.each(Object.entries(peopleBounds()))('with what people do: %s', (_name, exploration) => {
  test('breaks no rule and no budget, offers nothing that is refused, and rests only at an end or with a human', () => {
    const { broken, isWhole, atRest } = explore(exploration);
    expect(broken).toBeNull();
    expect(isWhole).toBe(true);
    expect(atRest).toBeGreaterThan(0);
  });
});

test('every kind of decision is taken, and what is counted is used up to the last', () => {
  const found = Object.values(peopleBounds()).map(explore);
  const of = (what: 'decisions' | 'usedUp') => [...new Set(found.flatMap((each) => each[what]))].sort();
  expect(of('decisions')).toEqual([
    ...['abandon', 'amend', 'approve', 'extend', 'override', 'resolve', 'retry', 'split'],
  ]);
  expect(of('usedUp')).toEqual(expect.arrayContaining(['depth', 'execute', 'fan-out', 'fixes', 'recovery depth']));
});

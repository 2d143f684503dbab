import { parseEvent } from '@fixpoint/contracts/events/parse-event';
import { describe, expect, test } from '@jest/globals';
import { childResolved, epicOpened, recomposeFailed, recomposeStarted } from './epic-history.fixture.ts';
import { expired } from './handoff-history.fixture.ts';
import {
  blocked,
  completed,
  humanRequired,
  ready,
  recorded,
  runOf,
  submitted,
  telling,
  withdrawn,
} from './history.fixture.ts';
import { openHandoffs, type Units, unitsAfter, waitsForHuman } from './units.ts';

const openAfter = (...events: readonly { type: string; data: unknown }[]): Units => {
  const { told, tell } = telling();
  tell('lineage-r1', 'r1', submitted('r1'));
  for (const event of events) tell('lineage-r1', 'r1', event);
  return recorded(told).map(parseEvent).reduce(unitsAfter, {});
};

const askedFor = (task: string) => {
  const { type, data } = humanRequired('r1');
  return { type, data: { ...data, task, handoff: `${task}.h1` } };
};

describe('the open units of a lineage', () => {
  test('are its root, and after a split its children, while the root does nothing itself', () => {
    expect(openAfter()).toEqual({ r1: { at: 'running', handoff: null } });
    expect(openAfter(epicOpened('r1', 2))).toEqual({
      r1: { at: 'split', handoff: null },
      'r1.1': { at: 'running', handoff: null },
      'r1.2': { at: 'running', handoff: null },
    });
  });

  test('wait for a human only when none of them moves without one', () => {
    const split = epicOpened('r1', 2);
    expect(waitsForHuman(openAfter(split, askedFor('r1.1')))).toBe(false);
    expect(waitsForHuman(openAfter(split, askedFor('r1.1'), completed('r1', 'r1.2')))).toBe(true);
    expect(waitsForHuman(openAfter(split, completed('r1', 'r1.1'), blocked('r1', 'r1.2')))).toBe(false);
    expect(waitsForHuman({})).toBe(false);
  });

  test('move again with a run of their own or of one of their fixes, and keep the handoff beside it', () => {
    const again = openAfter(askedFor('r1'), ready(runOf('r1', 'r1.f1.f2', 1)));
    expect(again).toEqual({ r1: { at: 'running', handoff: 'r1.h1' } });
    expect(openHandoffs(again)).toBe(1);
    expect(openAfter(askedFor('r1'), withdrawn('r1'))).toEqual({ r1: { at: 'running', handoff: null } });
    expect(openAfter(askedFor('r1'), expired('r1'))).toEqual({ r1: { at: 'running', handoff: null } });
    expect(openAfter(askedFor('r1'), expired('r1', 'keep'))).toEqual(openAfter(askedFor('r1')));
  });

  test('are fewer when one is cancelled, with all below it', () => {
    const data = { root: 'r1', task: 'r1', address: '0', reason: '', ended_tasks: ['r1.1'], stopped_runs: [] };
    const cancelled = { type: 'task_cancelled' as const, data };
    expect(openAfter(epicOpened('r1', 2), cancelled)).toEqual({ 'r1.2': { at: 'running', handoff: null } });
  });

  test('wait for a human after a failed assembly only where nothing is tried again by itself', () => {
    const proved = [epicOpened('r1', 1), childResolved('r1', 'r1.1', 0), completed('r1', 'r1.1')];
    const failed = (attempt: number, more: object = {}) => {
      const { type, data } = recomposeFailed('r1', attempt);
      return [recomposeStarted('r1', attempt), { type, data: { ...data, ...more } }];
    };
    const { type, data } = humanRequired('r1');
    const beside = { type, data: { ...data, raw_halt_type: 'recompose', run_open: true } };
    expect(waitsForHuman(openAfter(...proved, ...failed(1)))).toBe(false);
    expect(waitsForHuman(openAfter(...proved, ...failed(1), beside))).toBe(false);
    expect(openHandoffs(openAfter(...proved, ...failed(1), beside))).toBe(1);
    expect(waitsForHuman(openAfter(...proved, ...failed(1), beside, ...failed(2)))).toBe(false);
    expect(waitsForHuman(openAfter(...proved, ...failed(2, { next_at: null })))).toBe(true);
  });
});

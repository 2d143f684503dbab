import { describe, expect, test } from '@jest/globals';
import type { QueuedRow } from '../waits/wait-rows.ts';
import { inOrder, type Room } from './in-order.ts';
import type { Turns } from './queue.ts';

const row = (task: string, more: Partial<QueuedRow> = {}): QueuedRow => ({
  ...{ root: task, task, unit: task, run: 1, project: 'shop', class: 'normal', affinity: 0 },
  ...{ key: null, key_limit: null, providers: [], queued_for: 'window' },
  ...{ since: '2026-01-01T00:00:00.000Z', next_at: '2026-01-01T00:00:00.000Z' },
  ...more,
});
const high = (task: string, affinity = 1): QueuedRow => row(task, { class: 'high', affinity });
const low = (task: string): QueuedRow => row(task, { class: 'low', affinity: -5 });
const of = (project: string, task: string, second = 0): QueuedRow =>
  row(task, { project, since: `2026-01-01T00:00:0${second}.000Z` });

const NO_TURNS: Turns = { projects: new Map(), total: 0 };
const room = (total: number, each = total): Room => ({ total, of: () => each, probes: new Set() });
const order = (rows: readonly QueuedRow[], turns = NO_TURNS, free = room(rows.length)): string[] =>
  inOrder(rows, turns, free).map(({ task }) => task);

describe('the order of the queue', () => {
  test('U-T01 starts the higher affinity first, whatever waited longer', () => {
    expect(order([row('a'), high('b'), high('c', 5)])).toEqual(['c', 'b', 'a']);
  });

  test('starts the oldest of equals first', () => {
    expect(order([of('shop', 'young', 5), of('shop', 'old', 1)])).toEqual(['old', 'young']);
  });

  test('U-T50 gives projects turns: nobody waits behind all the work of another', () => {
    const rows = [of('a', 'a1', 1), of('a', 'a2', 2), of('a', 'a3', 3), of('b', 'b1', 7), of('b', 'b2', 8)];
    expect(order(rows)).toEqual(['a1', 'b1', 'a2', 'b2', 'a3']);
  });

  test('goes on where other rounds and replicas stopped', () => {
    const turns = { projects: new Map([['a', 5], ['b', 3]]), total: 5 }; // biome-ignore format: a table
    expect(order([of('a', 'a1', 1), of('b', 'b1', 7)], turns, room(1))).toEqual(['b1']);
  });

  test('gives the middle class every tenth start while a higher one waits', () => {
    const rows = [...Array.from({ length: 30 }, (_, n) => high(`h${n}`)), row('n0'), row('n1'), row('n2')];
    const started = order(rows, NO_TURNS, room(30));
    expect(started.flatMap((task, index) => (task.startsWith('n') ? [index + 1] : []))).toEqual([10, 20, 30]);
  });

  test('lets one run ask a provider that was paused, the first in order, and nobody else', () => {
    const [a, b] = [{ providers: ['git.a'] }, { providers: ['git.a', 'git.b'] }];
    const rows = [row('a1', a), row('b1', b), row('c1', { providers: ['git.b'] }), row('d1')];
    const free = { ...room(4), probes: new Set(['git.a']) };
    expect(order(rows, NO_TURNS, free)).toEqual(['a1', 'c1', 'd1']);
    expect(order(rows, NO_TURNS, { ...free, probes: new Set(['git.b']) })).toEqual(['a1', 'b1', 'd1']);
  });

  test('runs the lowest class when nothing else could', () => {
    expect(order([low('l'), row('n'), high('h')])).toEqual(['h', 'n', 'l']);
    expect(order([low('l'), row('n'), high('h')], NO_TURNS, room(2))).toEqual(['h', 'n']);
  });

  test('U-T20 leaves no project more than it has room for', () => {
    const rows = [of('a', 'a1', 1), of('a', 'a2', 2), of('b', 'b1', 3)];
    expect(order(rows, NO_TURNS, room(3, 1))).toEqual(['a1', 'b1']);
  });
});

import type { EventType } from '@fixpoint/contracts/events/catalogue';
import { actionStream, gateStream } from '@fixpoint/contracts/streams';
import { describe, expect, test } from '@jest/globals';
import { driveToRest } from './drive.ts';
import type { Route } from './held-bus.ts';
import { brokenIn, historyOf } from './invariants.ts';
import { scenarioNamed } from './scenarios.ts';
import { dataOf, storiesOf } from './story.ts';
import { inOrder, startWorld } from './world.ts';

/** Longer than any hop of these scenarios may take. */
const TOO_LATE_MS = 3 * 3_600_000;

/** First run of a task, or first request to the council. */
const isFirst = (data: unknown): boolean =>
  typeof data === 'object' &&
  data !== null &&
  (('run' in data && data.run === 1) || ('request' in data && data.request === 1));

/** Messages of one type about a first run or request arrive when it was given up long ago; all others at once. */
const late = (type: EventType): Route => ({
  ...inOrder,
  fate: ({ offer: { event } }) =>
    event.type === type && isFirst(event.data) ? { laterMs: TOO_LATE_MS } : { copies: 1 },
});

const afterLate = async (type: EventType, name: string) => {
  const world = await startWorld({ route: late(type) });
  await world.submit([scenarioNamed(name)]);
  await driveToRest(world);
  return world.events();
};

describe('an answer that comes when nobody waits for it any more', () => {
  test.each<[EventType, string]>([
    ['node_ready', 'one-node'],
    ['governance_passed', 'one-node'],
    ['governance_passed', 'one-fix'],
  ])('A11 %s of %s changes nothing, and nobody is at fault before a start', async (type, name) => {
    const events = await afterLate(type, name);
    const { ending } = storiesOf(events).get(name) ?? {};
    const { runs: _runs, ...expected } = scenarioNamed(name).end;
    expect(ending).toMatchObject(expected);
    expect(dataOf(events, 'node_ready').map(({ purpose }) => purpose)).toContain('regate');
    expect(dataOf(events, 'fault_recorded')).toEqual([]);
    expect(brokenIn(events)).toEqual([]);
  });

  test.each<[EventType, string, 'judge' | 'council']>([
    ['node_verified_action', 'one-node', 'judge'],
    ['decomposition_requested', 'never-met', 'council'],
  ])('A11 %s of %s changes nothing', async (type, name, phase) => {
    const events = await afterLate(type, name);
    const { ending } = storiesOf(events).get(name) ?? {};
    const { runs: _runs, ...expected } = scenarioNamed(name).end;
    expect(ending).toMatchObject(expected);
    expect(dataOf(events, 'fault_recorded')[0]).toMatchObject({ phase, class: 'no_answer', count: 1 });
    expect(brokenIn(events)).toEqual([]);
  });

  test('A11 a run that was given up is judged by nobody, whenever its result arrives', async () => {
    const events = await afterLate('node_verified_action', 'one-fix');
    const [given] = dataOf(events, 'fault_recorded');
    expect(given).toMatchObject({ phase: 'judge', class: 'no_answer', run: 1 });
    const { task = '', run = 0 } = given ?? {};
    const stream = historyOf(events).stream(gateStream(task, run));
    expect(stream.map(({ type }) => type)).toEqual(['governance_passed']);
    expect(dataOf(events, 'verdict_recorded').filter((each) => each.task === task && each.run === run)).toEqual([]);
  });

  test('A11 a run that was revoked never starts', async () => {
    const events = await afterLate('governance_passed', 'one-node');
    const [revoked] = dataOf(events, 'run_revoked');
    const stream = historyOf(events).stream(actionStream(revoked?.task ?? '', revoked?.run ?? 0));
    expect(stream.map(({ type }) => type)).toEqual(['run_revoked']);
  });
});

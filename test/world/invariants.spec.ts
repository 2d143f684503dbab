import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { driveToRest } from './drive.ts';
import { brokenIn, historyOf, invariants } from './invariants.ts';
import { scenarioNamed } from './scenarios.ts';
import { startWorld } from './world.ts';

type Events = readonly RecordedEvent[];
type Change = Readonly<Record<string, unknown>>;

/** Histories that are right: one with a fix, one that was halted, one that passes data and skips a node. */
let repaired: Events = [];
let halted: Events = [];
let passing: Events = [];

const historyFor = async (name: string): Promise<Events> => {
  const world = await startWorld();
  await world.submit([scenarioNamed(name)]);
  await driveToRest(world);
  return world.events();
};

beforeAll(async () => {
  repaired = await historyFor('one-fix');
  halted = await historyFor('hard-blocker');
  passing = await historyFor('passes-data');
});

/** The history with another value in the data of the last event of a type. */
const changed = (events: Events, type: string, data: Change): Events => {
  const at = events.findLastIndex((event) => event.type === type);
  return events.map((event, index) =>
    index === at ? { ...event, data: { ...(event.data as object), ...data } } : event,
  );
};

/** The history with a copy of the last event of a type at its end. */
const again = (events: Events, type: string, data: Change = {}): Events => {
  const event = events.findLast((each) => each.type === type);
  if (event === undefined) throw new Error(`no ${type}`);
  return [...events, { ...event, data: { ...(event.data as object), ...data } }];
};

/** The history with a command that its one run needed so often that nobody could have said it. */
const repeated = (events: Events, tool: string): Events => {
  const event = events.findLast(({ type }) => type === 'tool_called');
  if (event === undefined) throw new Error('no tool_called');
  return [...events, ...Array<typeof event>(100).fill({ ...event, data: { ...(event.data as object), tool } })];
};

const without = (events: Events, type: string): Events => events.filter((event) => event.type !== type);

const SKIPPED = { node: { id: 'frame' } };
const TEMPLATED = { node: { id: 'paint', templated: true } };

const tokenIn = (events: Events): unknown =>
  events.flatMap(({ type, data }) => (type === 'governance_passed' ? [(data as { token: string }).token] : []))[0];

describe('an invariant', () => {
  test('holds of a history that is right', () => {
    expect([...brokenIn(repaired), ...brokenIn(halted), ...brokenIn(passing)]).toEqual([]);
  });

  test.each<[string, () => Events]>([
    ['a task ends once', () => again(repaired, 'task_completed')],
    ['no bound is ever passed', () => changed(repaired, 'subtask_spawned', { fix_attempts: 11 })],
    ['no bound is ever passed', () => changed(repaired, 'subtask_spawned', { recovery_depth: 4 })],
    ['C9 each fix is charged once, in order, and no counter falls', () => again(repaired, 'subtask_spawned')],
    ['A11 a run starts at most once, and only after its gate said yes', () => without(repaired, 'governance_passed')],
    ['every run has a token of its own', () => changed(repaired, 'governance_passed', { token: tokenIn(repaired) })],
    ['every run has a token of its own', () => changed(repaired, 'action_started', { token_id: 'other' })],
    ['the scope never changes inside a lineage', () => changed(repaired, 'node_ready', { scope: {} })],
    ['nothing is done without evidence and a judgement', () => without(repaired, 'post_validated')],
    ['nothing is done without evidence and a judgement', () => without(repaired, 'node_verified_action')],
    ['each node of a completed task was done or skipped, once and in order', () => without(passing, 'node_skipped')],
    ['each node of a completed task was done or skipped, once and in order', () => again(passing, 'node_completed')],
    ['a skipped node is never run, and what is run lacks no value', () => again(passing, 'node_ready', SKIPPED)],
    ['a skipped node is never run, and what is run lacks no value', () => again(passing, 'node_ready', TEMPLATED)],
    ['a run has one gate answer, one end and one judgement', () => again(repaired, 'node_verified_action')],
    ['A14 runs of a task are numbered without gaps, one open at a time', () => without(repaired, 'run_counted')],
    [
      'A14 runs of a task are numbered without gaps, one open at a time',
      () => changed(repaired, 'node_ready', { run: 3 }),
    ],
    ['no event without its cause', () => without(repaired, 'node_verified_action')],
    ...(['recipe', 'postcondition', 'repair_model', 'self_repair'] as const).map((tool): [string, () => Events] => [
      'X17 no lineage costs more than was said of its task',
      () => repeated(halted, tool),
    ]),
    ['a halt is final: nothing runs after it', () => again(halted, 'node_ready', { run: 2 })],
  ])('%s', (name, broken) => {
    const history = historyOf(broken());
    const rules = invariants.filter((each) => each.name === name && each.broken(history).length > 0);
    expect(rules).toHaveLength(1);
  });
});

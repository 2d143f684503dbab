import { Refused } from '@fixpoint/decider/refused';
import { askCondition } from '@fixpoint/validation/condition';
import { describe, expect, test } from '@jest/globals';
import type { LineageCommand } from './commands.ts';
import { lineage } from './decide.ts';
import { commandsFor } from './every-command.fixture.ts';
import { type StateName, states } from './every-state.fixture.ts';

type Row = Readonly<Record<string, string>>;

const noHandoff = 'refused: handoff_unknown';
/** Nothing runs and nobody is asked; what a row does not name is answered with nothing. */
const still: Row = {
  'submit other': 'refused: idempotency_key_reused',
  'hand in a child': 'refused: run_not_in_flight',
  ...{ amend: noHandoff, retry: noHandoff, resolve: noHandoff, 'ask for a split': noHandoff, claim: noHandoff },
  'dead letter': 'human_required',
  cancel: 'task_cancelled',
};
const ended: Row = { ...still, 'dead letter': '', cancel: 'refused: task_already_ended' };
const outOfTime = 'deadline_passed human_required';
const running: Row = {
  ...still,
  ...{ halt: 'task_blocked', escalate: 'human_required', refuse: 'node_ready', 'not begun': 'node_ready' },
  ...{ unmet: 'run_counted node_ready', indeterminate: 'run_counted', faulted: 'fault_recorded' },
  ...{ proceed: 'node_completed task_completed', recover: 'run_counted subtask_spawned node_ready' },
  ...{ 'no answer': 'fault_recorded', 'hand in a child': 'child_submitted node_ready', deadline: 'deadline_passed' },
};
/** Nobody is cut off who was not warned: an end that comes first is a warning. */
const life: Row = { 'warning due': 'handoff_warned', 'time is over': 'handoff_warned' };
/** A human is asked about the whole unit. */
const asked: Row = {
  ...{ ...still, ...life },
  ...{ deadline: 'deadline_passed handoff_updated', 'dead letter': 'handoff_updated', claim: 'handoff_claimed' },
  ...{ amend: 'human_decided node_ready', resolve: 'human_decided node_ready' },
  'ask for a split': 'human_decided decomposition_requested',
  cancel: 'task_cancelled handoff_withdrawn',
};
const withheld: Row = { ...asked, retry: 'refused: decision_not_allowed' };
const lifted = 'human_decided affinity_changed node_ready';
const notAllowed = 'refused: decision_not_allowed';
const closureEnds = 'recovery_exhausted task_stalled node_ready';
const childRuns: Row = { ...running, halt: 'task_blocked human_required', proceed: 'node_completed node_ready' };
const split = 'epic_opened affinity_changed node_ready node_ready';

const table: Readonly<Record<StateName, Row>> = {
  queued: { ...still, turn: 'node_ready', deadline: outOfTime },
  running,
  'running a fix': {
    ...running,
    ...{ halt: closureEnds, escalate: closureEnds, unmet: 'run_counted subtask_spawned node_ready' },
    proceed: 'node_completed task_completed node_ready',
  },
  'running after a fix that ended': { ...running, proceed: 'node_completed recovery_resolved task_completed' },
  'waiting to try a fault again': { ...still, 'retry due': 'node_ready', deadline: outOfTime },
  'waiting to check again': { ...still, 'retry due': 'node_ready', deadline: outOfTime },
  'checking whether it is met meanwhile': {
    ...running,
    ...{ unmet: 'run_counted decomposition_requested', recover: 'run_counted decomposition_requested' },
  },
  'with an agent': { ...running, recover: 'run_counted node_ready' },
  'asking the council': {
    ...still,
    ...{ split, 'no split': 'human_required affinity_changed', 'no council': 'fault_recorded' },
    deadline: 'deadline_passed',
  },
  'waiting to ask the council again': { ...still, 'request due': 'decomposition_requested', deadline: outOfTime },
  'at the floor': {
    ...asked,
    ...{ amend: lifted, retry: lifted, resolve: lifted },
    'ask for a split': 'human_decided affinity_changed decomposition_requested',
  },
  'waiting for a choice': withheld,
  'waiting for authority': withheld,
  'waiting for the infrastructure': {
    ...asked,
    ...{ amend: notAllowed, retry: 'human_decided node_ready' },
  },
  'waiting for more time': {
    ...asked,
    ...{ amend: notAllowed, retry: notAllowed, resolve: notAllowed, 'ask for a split': notAllowed, deadline: '' },
    'retry due': 'node_queued',
  },
  'superseded by children that run': childRuns,
  'superseded by a child that is merged': {
    ...childRuns,
    ...{ unmet: 'integration_failed node_ready', recover: 'integration_failed node_ready' },
    proceed: 'task_completed affinity_changed epic_child_resolved',
  },
  'superseded by children of which one is blocked': {
    ...childRuns,
    ...{ halt: 'task_blocked handoff_updated', 'dead letter': 'handoff_updated', claim: 'handoff_claimed' },
    ...{ cancel: 'task_cancelled handoff_withdrawn', ...life },
    ...{ amend: notAllowed, retry: notAllowed, 'ask for a split': notAllowed, resolve: 'refused: unit_superseded' },
  },
  'superseded by a child that can not be merged': {
    ...{ ...childRuns, ...life },
    ...{ retry: 'human_decided node_ready', resolve: 'human_decided node_ready', claim: 'handoff_claimed' },
    ...{ amend: notAllowed, 'ask for a split': notAllowed, cancel: 'task_cancelled handoff_withdrawn' },
  },
  recomposing: {
    ...running,
    unmet: 'run_counted recompose_failed',
    proceed: 'node_completed task_completed epic_closed affinity_changed',
  },
  'waiting to recompose': { ...still, 'recompose due': 'recompose_started node_ready', deadline: outOfTime },
  'waiting for a human to recompose': {
    ...asked,
    ...{
      retry: 'human_decided affinity_changed recompose_started node_ready',
      resolve: lifted,
      amend: notAllowed,
      'ask for a split': notAllowed,
    },
    'recompose due': 'recompose_started node_ready',
  },
  completed: ended,
  blocked: ended,
  cancelled: { ...ended, cancel: '' },
};

const decided = (state: StateName, name: string): string => {
  const play = states[state]();
  const { known, now, admission, mode } = play;
  const command = { ...commandsFor(play)[name], ...known, now, admission, mode, askCondition } as LineageCommand;
  try {
    return lineage
      .decide(command, play.state)
      .map(({ type }) => type)
      .join(' ');
  } catch (error) {
    if (error instanceof Refused) return `refused: ${error.code}`;
    throw error;
  }
};

describe('C22 a lineage', () => {
  const names = Object.keys(commandsFor(states.running()));

  test('is named here in every state, and no row has a command that there is not', () => {
    expect(Object.keys(table).sort()).toEqual(Object.keys(states).sort());
    expect(Object.values(table).flatMap((row) => Object.keys(row).filter((name) => !names.includes(name)))).toEqual([]);
  });

  const rows = (Object.keys(table) as StateName[]).flatMap((state) =>
    names.map((command) => ({ state, command, facts: table[state][command] ?? '' })),
  );

  test.each(rows)('that is $state: $command → $facts', ({ state, command, facts }) => {
    expect(decided(state, command)).toBe(facts);
  });

  test.each(names.filter((name) => !name.startsWith('submit')))('that nobody knows refuses: %s', (name) => {
    const { now, mode, ...play } = states.running();
    const command = {
      ...commandsFor(states.running())[name],
      now,
      mode,
      askCondition,
      ...play.known,
    } as LineageCommand;
    expect(() => lineage.decide(command, lineage.initial)).toThrow('lineage_unknown');
  });
});

import { fold } from '@fixpoint/decider/decider';
import { Refused } from '@fixpoint/decider/refused';
import { askCondition } from '@fixpoint/validation/condition';
import { describe, expect, test } from '@jest/globals';
import type { LineageCommand } from './commands.ts';
import { lineage } from './decide.ts';
import { HASH, mode, NOW, nodeSpec, Play, ROOT, SILENCE, taskSpec, verdict } from './lineage.fixture.ts';

const submit = (nodes = [nodeSpec()]): LineageCommand => ({
  type: 'submit_task',
  root: ROOT,
  spec: taskSpec(nodes),
  specHash: HASH,
  protocol: { name: 'p', version: 1, hash: HASH },
  idempotencyKey: 'k',
  now: NOW,
  mode: mode(),
  askCondition,
});

const submitted = (): Play => {
  const play = new Play();
  play.send(submit());
  return play;
};

const afterFix = (): Play => {
  const play = submitted();
  play.judge([verdict('lint')]);
  play.judge();
  return play;
};

const stalled = (): Play => {
  const play = submitted();
  for (const tree of ['a', 'b', 'c']) play.unmet(tree);
  return play;
};

const having =
  (answer: (play: Play) => unknown, from: () => Play = submitted) =>
  (): Play => {
    const play = from();
    answer(play);
    return play;
  };

const asking = having((play) => play.unmet(), stalled);

/** One lineage in each state that decisions tell apart. */
const states = {
  running: submitted,
  'checking after a fix': afterFix,
  'running a fix': having((play) => play.judge([verdict('lint')])),
  'backing off': having((play) => play.refuse('token_invalid')),
  'met meanwhile?': stalled,
  'asking the council': asking,
  'asking the council later': having(
    (play) => play.send({ type: 'give_up_request', task: ROOT, request: 1, ...SILENCE }),
    asking,
  ),
  'with a human': having((play) => play.escalate()),
  'past its deadline': having((play) => play.deadline()),
  completed: having((play) => play.judge()),
  blocked: having((play) => play.gate('halt')),
};

type State = keyof typeof states;

/** Answers to the run in flight; to run 1 of the root where there is none. */
const commandsFor = (play: Play) => {
  const probe = Object.values(play.state.tasks).some((task) => task.current !== null) ? play : submitted();
  const { root, task, address, run } = probe.ready;
  const at = { root, task, address, run };
  const told = { halt_type: 'blocker' as const, raw_halt_type: 'x', verdicts: [] };
  const retrying = Object.values(play.state.tasks).find((each) => each.retry !== null);
  return {
    submit: submit(),
    'submit other': { ...submit(), specHash: 'b'.repeat(64) },
    halt: { type: 'block_run', answer: { ...at, outcome: 'halt', ...told } },
    escalate: { type: 'escalate_run', answer: { ...at, ...told } },
    refuse: { type: 'refuse_run', answer: { ...at, reason: 'token_expired', detail: '' } },
    satisfied: { type: 'end_run', result: probe.result() },
    unmet: { type: 'end_run', result: probe.result({ outcome: 'unmet' }) },
    faulted: { type: 'end_run', result: probe.result({ outcome: 'faulted', fault_class: 'disk' }) },
    proceed: { type: 'judge_run', judgement: probe.judgement([]), result: probe.result() },
    recover: { type: 'judge_run', judgement: probe.judgement([verdict('format')]), result: probe.result() },
    'no answer': {
      ...{ type: 'fault_run', task, run, phase: 'action', class: 'no_answer', retryAfterMs: 0, detail: '' },
      ...{ result: null, effects: 'possible' },
    },
    'no split': {
      type: 'decide_split',
      answer: {
        ...{ root, task: ROOT, address: '0', request: 1, should_decompose: false, reason: 'no_council' },
        ...{ confidence: 'high', adapter: null, spent: { duration_ms: 0, money_micros: 0, tokens: 0 } },
      },
    },
    'no council': { type: 'give_up_request', task: ROOT, request: 1, ...SILENCE },
    'retry due': {
      type: 'timer_due',
      timer: { kind: 'retry', task: retrying?.id ?? ROOT, run: retrying?.retry?.after ?? 1 },
    },
    'request due': { type: 'timer_due', timer: { kind: 'request', task: ROOT, request: 1 } },
    deadline: { type: 'timer_due', timer: { kind: 'deadline' } },
  } as const;
};
type Name = keyof ReturnType<typeof commandsFor>;

const decided = (play: Play, name: Name): string => {
  try {
    const state = fold(lineage, lineage.initial, play.facts);
    const command = { now: NOW, mode: play.mode, ...commandsFor(play)[name] } as LineageCommand;
    return lineage
      .decide(command, state)
      .map((fact) => fact.type)
      .join(' ');
  } catch (error) {
    if (error instanceof Refused) return `refused: ${error.code}`;
    throw error;
  }
};

const runAnswers = [
  'halt',
  'escalate',
  'refuse',
  'satisfied',
  'unmet',
  'faulted',
  'proceed',
  'recover',
  'no answer',
] as const;
const silent = (names: readonly Name[]) => Object.fromEntries(names.map((name) => [name, ''])) as Record<Name, string>;

const always = { submit: '', 'submit other': 'refused: idempotency_key_reused' };
const running = {
  ...always,
  ...{ halt: 'task_blocked', escalate: 'human_required', refuse: 'node_ready', satisfied: '' },
  ...{ unmet: 'run_counted node_ready', faulted: 'fault_recorded', 'no answer': 'fault_recorded' },
  ...{ proceed: 'node_completed task_completed', recover: 'run_counted subtask_spawned node_ready' },
  ...silent(['no split', 'no council', 'retry due', 'request due']),
  deadline: 'deadline_passed',
};
const closureEnds = 'recovery_exhausted task_stalled node_ready';
const idle = { ...always, ...silent([...runAnswers, 'no split', 'no council', 'retry due', 'request due']) };

const table: Record<State, Partial<Record<Name, string>>> = {
  running,
  'checking after a fix': { ...running, proceed: 'node_completed recovery_resolved task_completed' },
  'running a fix': {
    ...running,
    ...{ halt: closureEnds, escalate: closureEnds },
    unmet: 'run_counted subtask_spawned node_ready',
    proceed: 'node_completed task_completed node_ready',
  },
  'backing off': { ...idle, 'retry due': 'node_ready', deadline: 'deadline_passed human_required' },
  'met meanwhile?': {
    ...running,
    unmet: 'run_counted decomposition_requested',
    recover: 'run_counted decomposition_requested',
  },
  'asking the council': {
    ...idle,
    ...{ 'no split': 'human_required affinity_changed', 'no council': 'fault_recorded', deadline: 'deadline_passed' },
  },
  'asking the council later': {
    ...idle,
    ...{ 'request due': 'decomposition_requested', deadline: 'deadline_passed human_required' },
  },
  'with a human': { ...idle, deadline: 'deadline_passed handoff_updated' },
  'past its deadline': {
    ...running,
    ...{ refuse: 'node_queued human_required', unmet: 'run_counted node_queued human_required' },
    recover: 'run_counted subtask_spawned node_queued human_required',
    ...{ faulted: 'fault_recorded human_required', 'no answer': 'fault_recorded human_required', deadline: '' },
  },
  completed: { ...idle, deadline: '' },
  blocked: { ...idle, deadline: '' },
};

describe('C22 a lineage', () => {
  const rows = (Object.keys(states) as State[]).flatMap((state) =>
    Object.entries(table[state]).map(([command, facts]) => ({ state, command: command as Name, facts })),
  );

  test('has a line for every state and command', () => {
    expect(rows).toHaveLength(Object.keys(states).length * Object.keys(commandsFor(submitted())).length);
  });

  test.each(rows)('$state: $command → $facts', ({ state, command, facts }) => {
    expect(decided(states[state](), command)).toBe(facts);
  });

  test.each(Object.keys(commandsFor(submitted())).filter((name) => !name.startsWith('submit')) as Name[])(
    'that is unknown refuses %s',
    (name) => {
      const command = { now: NOW, mode: mode(), ...commandsFor(submitted())[name] } as LineageCommand;
      expect(() => lineage.decide(command, lineage.initial)).toThrow('lineage_unknown');
    },
  );

  test('that is unknown is admitted by a submission', () => {
    expect(lineage.decide(submit(), lineage.initial).map((fact) => fact.type)).toEqual([
      'task_submitted',
      'node_ready',
    ]);
  });
});

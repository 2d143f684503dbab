import type { Bounds } from '@fixpoint/contracts/documents/protocol';
import { compareCursors, type RecordedEvent } from '@fixpoint/contracts/envelope';
import type { NodeCounters } from '@fixpoint/contracts/events/ended-events';
import { actionStream, gateStream, streamCategory } from '@fixpoint/contracts/streams';
import { passedBy } from './passed-nodes.ts';
import { dataOf } from './story.ts';
import { modeOf, withinWorstCase } from './worst-case-invariant.ts';

/** A rule that holds of every history: what of this one breaks it, a line for each; nothing when all is well. */
export interface Invariant {
  readonly name: string;
  readonly broken: (history: History) => readonly string[];
}

export interface History {
  readonly events: readonly RecordedEvent[];
  readonly stream: (name: string) => readonly RecordedEvent[];
}

export const historyOf = (events: readonly RecordedEvent[]): History => {
  const streams = Map.groupBy(events, ({ stream }) => stream);
  return { events, stream: (name) => streams.get(name) ?? [] };
};

const repeated = (values: readonly string[]): string[] =>
  values.filter((value, index) => values.indexOf(value) < index);

const typesOn = ({ stream }: History, name: string): string[] => stream(name).map(({ type }) => type);

const claimsIn = (token: string): { jti: string; task: string; run: number } =>
  JSON.parse(Buffer.from(token.split('~')[1] ?? '', 'base64url').toString());

const oneEnd: Invariant = {
  name: 'a task ends once',
  broken: ({ events }) => {
    const ended = [...dataOf(events, 'recovery_exhausted'), ...dataOf(events, 'recovery_stalled')];
    const tasks = [...dataOf(events, 'task_completed'), ...dataOf(events, 'task_blocked')].map(({ task }) => task);
    return repeated([...tasks, ...ended.flatMap(({ ended_tasks }) => ended_tasks)]);
  },
};

/** A check that could not run is tried again so often before a human is told of the last time. */
const within = (counters: NodeCounters, bounds: Bounds): boolean =>
  counters.execute <= bounds.execute &&
  counters.judge <= bounds.judge &&
  counters.iterations <= bounds.iterations &&
  counters.indeterminate <= bounds.indeterminate + 1;

const MORE_THAN_THE_MODE = ['human_decided', 'handoff_expired'];

/** Where nobody gave more; what humans add is counted from the state of the lineage. */
const budgets: Invariant = {
  name: 'no bound is ever passed',
  broken: ({ events }) =>
    dataOf(events, 'task_submitted').flatMap((submitted) => {
      const { bounds } = modeOf(events, submitted);
      const own = events.filter(({ root }) => root === submitted.root);
      if (own.some(({ type }) => MORE_THAN_THE_MODE.includes(type))) return [];
      return [
        ...dataOf(own, 'subtask_spawned')
          .filter(
            ({ fix_attempts: used, recovery_depth: depth }) =>
              used > bounds.max_total_fix_attempts || depth > bounds.max_recovery_depth,
          )
          .map(({ task_ref: task }) => `${task} was spawned`),
        ...dataOf(own, 'run_counted')
          .filter(({ counters }) => !within(counters, bounds))
          .map(({ task, run, counters }) => `${task}#${run} was counted: ${JSON.stringify(counters)}`),
      ];
    }),
};

const chargedOnce: Invariant = {
  name: 'C9 each fix is charged once, in order, and no counter falls',
  broken: ({ events }) => {
    const charges = Map.groupBy(dataOf(events, 'subtask_spawned'), ({ unit }) => unit);
    const counts = Map.groupBy(dataOf(events, 'run_counted'), ({ task, node_id: node }) => `${task} ${node}`);
    return [
      ...[...charges].filter(([, fixes]) => fixes.some(({ fix_attempts: used }, index) => used !== index + 1)),
      ...[...counts].filter(([, runs]) =>
        runs.some(({ counters }, index) => {
          const before = runs[index - 1]?.counters ?? counters;
          return counters.execute < before.execute || counters.iterations < before.iterations;
        }),
      ),
    ].map(([what]) => what);
  },
};

const startedOnce: Invariant = {
  name: 'A11 a run starts at most once, and only after its gate said yes',
  broken: ({ events, stream }) =>
    events
      .filter(({ type }) => type === 'action_started')
      .filter((started) => {
        const { task, run } = started.data as { task: string; run: number };
        const [passed] = stream(gateStream(task, run));
        const isAllowed = passed?.type === 'governance_passed' && compareCursors(passed.cursor, started.cursor) < 0;
        return !isAllowed || started.version !== 1;
      })
      .map(({ stream: name }) => name),
};

const oneToken: Invariant = {
  name: 'every run has a token of its own',
  broken: ({ events }) => {
    const claims = dataOf(events, 'governance_passed').map(({ token, task, run }) => ({
      task,
      run,
      of: claimsIn(token),
    }));
    const used = new Map(
      dataOf(events, 'action_started').map((start) => [`${start.task}#${start.run}`, start.token_id]),
    );
    return [
      ...repeated(claims.map(({ of }) => of.jti)),
      ...claims
        .filter(({ task, run, of }) => of.task !== task || of.run !== run)
        .map(({ task, run }) => `${task}#${run} has the token of another run`),
      ...claims
        .filter(({ task, run, of }) => (used.get(`${task}#${run}`) ?? of.jti) !== of.jti)
        .map(({ task, run }) => `${task}#${run} was started with another token`),
    ];
  },
};

const sameScope: Invariant = {
  name: 'the scope never changes inside a lineage',
  broken: ({ events }) => {
    const scopes = new Map(dataOf(events, 'task_submitted').map(({ root, scope }) => [root, JSON.stringify(scope)]));
    const all = [...dataOf(events, 'node_ready'), ...dataOf(events, 'subtask_spawned')];
    return all.filter(({ root, scope }) => scopes.get(root) !== JSON.stringify(scope)).map(({ address }) => address);
  },
};

const evidence: Invariant = {
  name: 'nothing is done without evidence and a judgement',
  broken: (history) =>
    dataOf(history.events, 'node_completed')
      .filter(({ task, run, outcome }) => {
        const [result] = dataOf(history.stream(actionStream(task, run)), 'node_verified_action');
        const [judgement] = dataOf(history.stream(gateStream(task, run)), 'post_validated');
        const isProved = result?.postcondition_met ?? (result?.exit_code === 0 || result?.run_kind === 'check');
        const isJudged = judgement?.outcome === 'proceed' || judgement?.outcome === 'proceed_with_log';
        return !isJudged || result?.outcome !== outcome || (outcome === 'satisfied' && !isProved);
      })
      .map(({ task, run }) => `${task}#${run}`),
};

/** Ids of the nodes of each task, in order. */
const nodesOf = (events: readonly RecordedEvent[]): ReadonlyMap<string, readonly string[]> =>
  new Map([
    ...dataOf(events, 'task_submitted').map(({ task, spec }) => [task, spec.nodes.map(({ id }) => id)] as const),
    ...dataOf(events, 'subtask_spawned').map(({ task_ref, nodes }) => [task_ref, nodes.map(({ id }) => id)] as const),
    ...[
      ...dataOf(events, 'epic_opened').flatMap(({ children }) => children),
      ...dataOf(events, 'child_submitted').map(({ child }) => child),
    ].map(({ task, nodes }) => [task, nodes.map(({ id }) => id)] as const),
    ...dataOf(events, 'human_decided').flatMap(({ task, nodes }) =>
      nodes === null ? [] : [[task, nodes.map(({ id }) => id)] as const],
    ),
  ]);

const everyNode: Invariant = {
  name: 'each node of a completed task was done or skipped, once and in order',
  broken: ({ events }) => {
    const nodes = nodesOf(events);
    return dataOf(events, 'task_completed').flatMap(({ task }) => {
      const own = passedBy(events, task);
      return own.join() === nodes.get(task)?.join() ? [] : [`${task}: ${own.join()}`];
    });
  },
};

const skippedNever: Invariant = {
  name: 'a skipped node is never run, and what is run lacks no value',
  broken: ({ events }) => {
    const skipped = new Set(dataOf(events, 'node_skipped').map(({ task, node_id: id }) => `${task} ${id}`));
    return dataOf(events, 'node_ready')
      .filter(({ task, node }) => skipped.has(`${task} ${node.id}`) || node.templated === true)
      .map(({ task, run }) => `${task}#${run}`);
  },
};

const oneEndOfARun: Invariant = {
  name: 'a run has one gate answer, one end and one judgement',
  broken: (history) =>
    [...new Set(history.events.map(({ stream }) => stream))].filter((name) => {
      const types = typesOn(history, name);
      const ends = ['node_verified_action', 'post_validated', 'governance_passed', 'split_decided'];
      return streamCategory(name) !== 'lineage' && ends.some((end) => types.filter((type) => type === end).length > 1);
    }),
};

/** A run that nobody had begun ends on its own stream: refused there, or revoked. */
const NEVER_BEGUN = ['run_refused', 'run_revoked'];
const ENDS_OF_RUNS = [
  ...['run_counted', 'node_completed', 'fault_recorded', 'human_required', 'integration_failed', 'recompose_failed'],
  ...NEVER_BEGUN,
];

/** Numbers of runs that came too early or out of turn, of one task's events in order. */
const outOfTurn = (events: readonly { readonly type: string; readonly run: number }[]): number[] => {
  const wrong: number[] = [];
  let last = { run: 0, open: false, queued: false };
  for (const { type, run } of events) {
    if (ENDS_OF_RUNS.includes(type)) last = { ...last, open: false };
    if (!TAKES_NUMBER.includes(type)) continue;
    if (!isNext(last, run)) wrong.push(run);
    last = { run, open: true, queued: type === 'node_queued' };
  }
  return wrong;
};

/** A run has its number once it waits for its turn, also where that never comes. */
const TAKES_NUMBER = ['node_ready', 'node_queued'];

const isNext = (last: { readonly run: number; readonly open: boolean; readonly queued: boolean }, run: number) =>
  (last.queued && run === last.run) || (!last.open && run === last.run + 1);

const runsInTurn: Invariant = {
  name: 'A14 runs of a task are numbered without gaps, one open at a time',
  broken: ({ events }) => {
    const told = events.map(({ type, data }) => ({ type, ...(data as { task?: string; run: number }) }));
    const tasks = Map.groupBy(told, ({ task }) => task);
    return [...tasks].flatMap(([task, own]) => outOfTurn(own).map((run) => `${task}#${run}`));
  },
};

const causes: Invariant = {
  name: 'no event without its cause',
  broken: ({ events }) => {
    const known = new Map(events.map((event) => [event.id, event]));
    return events
      .filter(({ metadata: { causation_id: cause, actor }, cursor }) => {
        const causing = known.get(cause);
        // Whoever asks from outside is the cause; of what the system does itself it has an id.
        if (causing === undefined) return actor === 'system' && !/^(timer|unanswered|sweep|turn):/.test(cause);
        return compareCursors(causing.cursor, cursor) >= 0;
      })
      .map(({ id, type }) => `${type} ${id}`);
  },
};

const haltsHalt: Invariant = {
  name: 'a halt is final: nothing runs after it',
  broken: ({ events }) => {
    const blocked = new Set<string>();
    return events.flatMap(({ type, data, root }) => {
      const { task } = data as { task?: string };
      if (type === 'task_blocked' && task === root) blocked.add(root);
      return blocked.has(root) && (type === 'node_ready' || type === 'subtask_spawned') ? [`${type} in ${root}`] : [];
    });
  },
};

/** What no delivery, loss or crash may break. Source: docs/rules.md (Judging)0, as far as this version has it. */
export const invariants: readonly Invariant[] = [
  oneEnd,
  budgets,
  chargedOnce,
  startedOnce,
  oneToken,
  sameScope,
  evidence,
  everyNode,
  skippedNever,
  oneEndOfARun,
  runsInTurn,
  causes,
  haltsHalt,
  withinWorstCase,
];

/** Everything that is broken, each with the name of its rule. */
export const brokenIn = (events: readonly RecordedEvent[]): readonly string[] => {
  const history = historyOf(events);
  return invariants.flatMap(({ name, broken }) => broken(history).map((what) => `${name}: ${what}`));
};

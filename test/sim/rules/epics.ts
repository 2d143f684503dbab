import type { LineageEvent } from '@fixpoint/contracts/events/catalogue';
import type { Admitted, Epic, Task } from '@fixpoint/orchestrator/domain/lineage/state';
import { isLive, leftIn } from '@fixpoint/orchestrator/domain/lineage/tree';
import type { Rule } from './rule.ts';

/** Below it nothing is dispatched. Source: docs/rules.md (Rank). */
const VIABLE = -5;

const splits = (state: Admitted): readonly Epic[] =>
  Object.values(state.epics).filter(({ kind }) => kind !== 'submitted');

const asks = (state: Admitted, id: string): boolean => state.units[id]?.handoff !== null;

const closesOnce: Rule = {
  name: 'C1 C14 an epic closes once, after all its children, and one of them at least is resolved',
  ofEvent: ({ before, event, after }) => {
    if (event.type !== 'epic_closed') return [];
    const epic = after.epics[event.data.epic];
    if (epic === undefined) return [`${event.data.epic} is not known`];
    const left = leftIn(epic).map(({ task }) => `${epic.id} closes before ${task}`);
    const resolved = epic.children.some(({ state }) => state === 'resolved');
    return [
      ...left,
      ...(before.epics[epic.id]?.closed === true ? [`${epic.id} closes again`] : []),
      ...(resolved ? [] : [`${epic.id} closes with nothing resolved`]),
    ];
  },
};

const openedOnce: Rule = {
  name: 'C7 a unit is split once in its life, and never a fix',
  ofEvent: ({ before, event }) => {
    if (event.type !== 'epic_opened') return [];
    const task = before.tasks[event.data.task];
    if (task?.kind === 'fix') return [`${task.id} is a fix`];
    return task?.epic === null && task.status === 'open'
      ? []
      : [`${event.data.task} is ${task?.status}, ${task?.epic}`];
  },
};

const resolvedWithProof: Rule = {
  name: 'no child is resolved that is not completed, and none twice',
  ofEvent: ({ before, event, after }) => {
    if (event.type !== 'epic_child_resolved') return [];
    const { child, epic, task } = event.data;
    const known = before.epics[epic ?? `${task}.submitted`]?.children.find((each) => each.task === child);
    return [
      ...(after.tasks[child]?.status === 'completed' ? [] : [`${child} is ${after.tasks[child]?.status}`]),
      ...(known?.state === 'open' ? [] : [`${child} was ${known?.state}`]),
    ];
  },
};

const completedIn = (events: readonly LineageEvent[]): readonly string[] =>
  events.flatMap((event) => (event.type === 'task_completed' ? [event.data.task] : []));

const completedIsResolved: Rule = {
  name: 'C15 a child that is completed counts in its epic in the same decision',
  ofCommit: ({ events, after }) =>
    completedIn(events)
      .flatMap((id) => after.tasks[id] ?? [])
      .filter(({ kind }) => kind === 'child')
      .filter(({ id, memberOf }) =>
        after.epics[memberOf ?? '']?.children.some(({ task, state }) => task === id && state === 'open'),
      )
      .map(({ id }) => id),
};

const oneMergeAtATime: Rule = {
  name: 'one child at a time is merged into an epic',
  ofCommit: ({ after }) =>
    splits(after)
      .map((epic) => ({ epic, merging: epic.children.filter(({ task }) => isMerging(after.tasks[task])) }))
      .filter(({ merging }) => merging.length > 1)
      .map(({ epic, merging }) => `${epic.id}: ${merging.map(({ task }) => task)}`),
};

/** The merge of a child is on its way, or waits for its time or its turn. */
export const isMerging = (task: Task | undefined): boolean =>
  task?.current?.kind === 'integrate' || task?.queued?.plan.kind === 'integrate' || task?.retry?.kind === 'integrate';

const sunkenAreCared: Rule = {
  name: 'a unit below the threshold of rank has an open epic or is with a human',
  ofCommit: ({ after }) =>
    Object.entries(after.units)
      .filter(([, { affinity }]) => affinity < VIABLE)
      .flatMap(([id]) => after.tasks[id] ?? [])
      .filter((task) => isLive(task) && !asks(after, task.id) && after.epics[task.epic ?? '']?.closed !== false)
      .map(({ id }) => id),
};

/** Its children are done, and it is not. */
const provedSubtrees: Rule = {
  name: 'a proved subtree can be dispatched or is with a human',
  ofCommit: ({ after }) =>
    splits(after)
      .filter((epic) => !epic.closed && leftIn(epic).length === 0)
      .filter(({ task }) => isLive(after.tasks[task] ?? { status: 'ended' }) && !asks(after, task))
      .filter(({ task }) => (after.units[task]?.affinity ?? 0) < VIABLE)
      .map(({ id }) => id),
};

const heldTellsSomebody: Rule = {
  name: 'an epic with a child that will never be done is with a human',
  ofCommit: ({ after }) =>
    splits(after)
      .filter((epic) => !epic.closed && isLive(after.tasks[epic.task] ?? { status: 'ended' }))
      .filter((epic) =>
        epic.children.some(
          ({ task, state }) =>
            state === 'open' && ['blocked', 'cancelled', 'abandoned'].includes(after.tasks[task]?.status ?? ''),
        ),
      )
      .filter(({ task }) => !asks(after, task))
      .map(({ id }) => id),
};

/** What was proven once is where the unit stands; nothing but a later proof moves it. */
const verifiedIsKept: Rule = {
  name: 'verified work is never discarded',
  ofCommit: ({ before, after }) => [
    ...Object.values(before.tasks)
      .filter((task) => task.accepted !== null && after.tasks[task.id]?.accepted === null)
      .map(({ id }) => `${id} lost what was accepted`),
    ...splits(before)
      .filter((epic) => epic.ref !== null && after.epics[epic.id]?.ref === null)
      .map(({ id }) => `${id} lost what was merged`),
  ],
};

const demotionsNeverRaise: Rule = {
  name: 'rank goes from where it was; a stall never raises it, a start of an assembly makes it viable, and no failure of one buries it',
  ofEvent: ({ before, event }) => {
    if (event.type !== 'affinity_changed') return [];
    const { task, from, to, reason } = event.data;
    const wrong = [
      before.units[task]?.affinity !== from,
      reason === 'stalled' && to > from,
      reason === 'recompose_started' && to !== Math.max(from, VIABLE),
      reason === 'recompose_failed' && (to > from || to < Math.min(from, VIABLE)),
    ];
    return wrong.includes(true) ? [`${task}: ${reason} from ${from} (${before.units[task]?.affinity}) to ${to}`] : [];
  },
};

/** Splits: from the first child to the end of the parent. */
export const epicRules: readonly Rule[] = [
  closesOnce,
  openedOnce,
  resolvedWithProof,
  completedIsResolved,
  oneMergeAtATime,
  sunkenAreCared,
  provedSubtrees,
  heldTellsSomebody,
  verifiedIsKept,
  demotionsNeverRaise,
];

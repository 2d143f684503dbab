import type { EventNamed, LineageEvent } from '@fixpoint/contracts/events/catalogue';
import { enteredAt } from './evolve-ready.ts';
import type { FRESH_NODE } from './fresh-node.ts';
import { letterKey } from './letter-key.ts';
import { takesData } from './node-data.ts';
import type { Admitted, Handoff, HandoffCause, Paused, Task, Unit } from './state.ts';
import { isRecomposing, ownEpicOf } from './tree.ts';
import { withTask, withUnitOf } from './with.ts';

type Data<Type extends LineageEvent['type']> = EventNamed<Type>['data'];

/** A unit's open handoff, from its opening to whatever ends it. */
export const evolveHandoff = (state: Admitted, event: LineageEvent): Admitted => {
  switch (event.type) {
    case 'human_required':
      return handedOff(state, event.data);
    case 'handoff_updated':
      return causeAdded(state, event.data);
    case 'handoff_cause_ended':
      return causeEnded(state, event.data);
    case 'handoff_claimed':
      return claimed(state, event.data);
    case 'handoff_warned':
      return warned(state, event.data);
    case 'handoff_expired':
      return expired(state, event.data);
    case 'handoff_withdrawn':
      return withUnitOf(state, event.data.task, (unit) => ({ ...unit, handoff: null }));
    case 'human_decided':
      return decided(state, event.data);
    default:
      return state;
  }
};

const withHandoff = (
  state: Admitted,
  { task, handoff: id }: { readonly task: string; readonly handoff: string },
  change: (handoff: Handoff) => Handoff,
): Admitted =>
  withUnitOf(state, task, (unit) => (unit.handoff?.id === id ? { ...unit, handoff: change(unit.handoff) } : unit));

const handedOff = (state: Admitted, data: Data<'human_required'>): Admitted => {
  const opened = withUnitOf(state, data.task, (unit) => ({
    ...unit,
    handoffs: unit.handoffs + 1,
    handoff: opening(state, unit, data),
    resolving: false,
  }));
  return data.run_open ? opened : standStill(opened, data.task);
};

const opening = (state: Admitted, unit: Unit, data: Data<'human_required'>): Handoff => ({
  id: data.handoff,
  version: data.version,
  causes: [causeOf(data)],
  slice: { task: data.slice.task, nodeId: data.slice.node_id },
  judged: data.judged,
  verdicts: data.verdicts.map(({ validator, severity, error, overridable, evidence_hash }) => ({
    ...{ validator, severity, error, overridable, evidence_hash },
  })),
  paused: data.run_open ? nothingPaused(data.slice.task) : pausedIn(state, unit, data.slice.task),
  claim: null,
  warnAt: data.warn_at,
  expiresAt: data.expires_at,
  onExpiry: data.on_expiry,
  warned: 0,
});

export const toldOfLetter = (
  state: Admitted,
  { letter }: Data<'human_required'> | Data<'handoff_updated'>,
): Admitted => (letter === undefined ? state : { ...state, letters: [...state.letters, letterKey(letter)] });

const nothingPaused = (task: string): Paused => ({ task, run: null, queued: null, retry: null, council: false });

/** Of a unit's tasks one runs at a time. */
const pausedIn = (state: Admitted, { request }: Unit, slice: string): Paused => {
  const unit = state.tasks[slice]?.unit;
  const moving = Object.values(state.tasks).find(
    (task) => task.unit === unit && (task.current !== null || task.queued !== null || task.retry !== null),
  );
  const council = request.open || request.retryAt !== null;
  return {
    task: moving?.id ?? slice,
    run: moving?.current ?? null,
    queued: moving?.queued?.plan ?? null,
    retry: moving?.retry ?? null,
    council,
  };
};

const causeOf = (data: Data<'human_required'> | Data<'handoff_updated'>): Handoff['causes'][number] => ({
  rawHaltType: data.raw_halt_type,
  detail: data.detail,
  stage: data.stage,
  help: data.help,
});

const causeAdded = (state: Admitted, data: Data<'handoff_updated'>): Admitted => {
  const added = withHandoff(state, data, (handoff) => ({
    ...handoff,
    version: data.version ?? handoff.version + 1,
    causes: [...handoff.causes, causeOf(data)],
    paused: data.run_open ? handoff.paused : stillPaused(state, handoff, data.task),
  }));
  return data.run_open ? added : standStill(added, data.task);
};

const stillPaused = (state: Admitted, { paused }: Handoff, task: string): Paused => {
  const unit = state.units[state.tasks[task]?.unit ?? task];
  const now = unit === undefined ? paused : pausedIn(state, unit, paused.task);
  return (now.run ?? now.queued ?? now.retry ?? (now.council || null)) ? now : paused;
};

/** Nothing of the unit goes on by itself any more. */
const standStill = (state: Admitted, task: string): Admitted => {
  const unitId = state.tasks[task]?.unit ?? task;
  const tasks = Object.fromEntries(
    Object.entries(state.tasks).map(([id, each]) => [
      id,
      each.unit === unitId ? { ...each, current: null, queued: null, retry: null } : each,
    ]),
  );
  return withUnitOf({ ...state, tasks }, task, (unit) => ({
    ...unit,
    request: { ...unit.request, open: false, retryAt: null },
  }));
};

const causeEnded = (state: Admitted, data: Data<'handoff_cause_ended'>): Admitted => {
  const ended = { rawHaltType: data.raw_halt_type, detail: data.detail };
  return withHandoff(state, data, (handoff) => ({
    ...handoff,
    version: handoff.version + 1,
    causes: handoff.causes.filter((cause) => !isSameCause(cause, ended)),
  }));
};

const claimed = (state: Admitted, data: Data<'handoff_claimed'>): Admitted =>
  withHandoff(state, data, (handoff) => ({
    ...handoff,
    version: data.version,
    claim: { by: data.by, until: data.until },
    expiresAt: data.expires_at,
  }));

const warned = (state: Admitted, data: Data<'handoff_warned'>): Admitted =>
  withHandoff(state, data, (handoff) => ({
    ...handoff,
    warned: data.share,
    warnAt: data.next_at,
    expiresAt: data.expires_at,
  }));

const expired = (state: Admitted, data: Data<'handoff_expired'>): Admitted => {
  if (data.outcome === 'keep') return withHandoff(state, data, (handoff) => ({ ...handoff, warned: 100 }));
  const free = withUnitOf(fixesEnded(state, data.ended_tasks), data.task, (unit) => ({
    ...reopened(unit),
    retriedByTimer: unit.retriedByTimer || data.outcome === 'retry',
    recovering: unit.recovering && data.ended_tasks.length === 0,
  }));
  return withTask(free, data.task, (task) => ({ ...task, ...begunAgain(state, task, data) }));
};

const fixesEnded = (state: Admitted, fixes: readonly string[]): Admitted =>
  fixes.reduce(
    (folded, id) =>
      withTask(folded, id, (task) => ({ ...task, status: 'ended', current: null, queued: null, retry: null })),
    state,
  );

/** A decision starts the comparison of judgements anew. */
const decided = (state: Admitted, data: Data<'human_decided'>): Admitted => {
  const known = { ...state, decided: { ...state.decided, [data.handoff]: data.decision_id } };
  const free = withUnitOf(fixesEnded(known, data.ended_tasks), data.task, (unit) => ({
    ...reopened(unit),
    stall: isForMore(unit, data) ? unit.stall : null,
    resolving: data.decision.kind === 'resolve',
    recovering: unit.recovering && data.ended_tasks.length === 0,
  }));
  return withTask(free, data.task, (task) => ({
    ...(data.nodes === null ? task : amended(task, data, data.nodes)),
    ...begunAgain(state, task, data),
  }));
};

type Begun = Pick<Data<'human_decided'>, 'node_index' | 'ended_tasks' | 'granted'>;

const begunAgain = (state: Admitted, task: Task, data: Begun): Partial<Task> => {
  const entered = enteredAt(task, data.node_index ?? task.nodeIndex);
  const { node } = entered;
  const from = beginsAt(state, task) ?? entered.nodeIndex;
  return {
    ...entered,
    candidate: data.ended_tasks.length === 0 ? task.candidate : null,
    signatures: [],
    node: { ...node, granted: sum(node.granted, data.granted), lastNormal: null, lastWork: null },
    passed: grantedToo(entered.passed, data, { from, to: Math.max(task.nodeIndex, entered.nodeIndex) }),
  };
};

/** Where every try to assemble a unit begins, whatever node it got to. */
const beginsAt = (state: Admitted, task: Task): number | null =>
  isRecomposing(state, task) ? (ownEpicOf(state, task)?.nodeIndex ?? null) : null;

interface Way {
  readonly from: number;
  readonly to: number;
}

/** What goes on at an earlier node comes to all those between there and where it stood still: each may run once more, too. */
const grantedToo = (passed: Task['passed'], { granted }: Begun, { from, to }: Way): Task['passed'] =>
  Object.fromEntries(
    Object.entries(passed).map(([index, node]) => {
      const isOnTheWay = Number(index) >= from && Number(index) <= to;
      return [index, isOnTheWay ? { ...node, granted: sum(node.granted, granted) } : node];
    }),
  );

/** Where only time, money or tokens were short, a stalled unit is as stalled as before. */
const isForMore = ({ handoff }: Unit, { decision }: Data<'human_decided'>): boolean =>
  decision.kind === 'extend' && handoff?.causes.every(({ stage }) => stage === 'budget') === true;

const reopened = (unit: Unit): Unit => ({ ...unit, handoff: null, stall: null });

const amended = (task: Task, { decision }: Data<'human_decided'>, nodes: Task['nodes']): Task => ({
  ...task,
  nodes,
  specHash: decision.kind === 'amend' ? decision.spec_hash : task.specHash,
  takesData: takesData(nodes),
});

type Counters = typeof FRESH_NODE.counters;

const sum = (one: Counters, other: Counters): Counters => ({
  execute: one.execute + other.execute,
  judge: one.judge + other.judge,
  iterations: one.iterations + other.iterations,
  indeterminate: one.indeterminate + other.indeterminate,
});

export const isSameCause = (one: HandoffCause, other: HandoffCause): boolean =>
  one.rawHaltType === other.rawHaltType && one.detail === other.detail;

import { unitIdOf } from '@fixpoint/contracts/addresses';
import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { z } from 'zod';
import { endMoves, lifeBegins, lifeEnds, warned } from './handoff-life.ts';
import { afterInQueue, queuedRow } from './queued-after.ts';
import { type Change, type Fields, fieldsSchema, isBeside, timer, without, withTimer } from './timer-rows.ts';
import { type LineageWaits, NO_WAITS, type TimerRow, type Waiting, type WaitKind } from './wait-rows.ts';

/** First re-offer after this long. Source: docs/rules.md (Healing). */
const FIRST_WAIT_MS = 5_000;

const spawnSchema = z.object({ parent_ref: z.string() });

/** What a lineage waits for after an event. Absolute: the same event again changes nothing. Other types leave it as it is. */
export const waitsAfter = (waits: LineageWaits, event: RecordedEvent): LineageWaits => {
  const after = changed(waits, event);
  return isEmpty(after.queued) ? after : afterInQueue(after, event);
};

const isEmpty = (rows: object): boolean => Object.keys(rows).length === 0;

const changed = (waits: LineageWaits, event: RecordedEvent): LineageWaits => {
  if (event.type === 'subtask_spawned') return afterSpawn(waits, event);
  const change = CHANGES[event.type];
  if (change === undefined) return waits;
  const parsed = fieldsSchema.safeParse(event.data);
  return parsed.success ? change({ waits, event, fields: parsed.data }) : waits;
};

const afterSpawn = (waits: LineageWaits, event: RecordedEvent): LineageWaits => {
  const parsed = spawnSchema.safeParse(event.data);
  const row = parsed.success ? waits.waiting[parsed.data.parent_ref] : undefined;
  return row ? withRow(waits, rested(row, 'fix')) : waits;
};

const withRow = (waits: LineageWaits, row: Waiting): LineageWaits => ({
  ...waits,
  waiting: { ...waits.waiting, [row.task]: row },
});

/** How often a unit that waits for its children is looked at. Source: docs/rules.md (Epics). */
const SWEEP_MS = 10 * 60_000;

/** When a unit that waits for its children is looked at next. */
export const nextSweep = (since: string): string => new Date(Date.parse(since) + SWEEP_MS).toISOString();

const firstLook = (since: string): string => new Date(Date.parse(since) + FIRST_WAIT_MS).toISOString();

const rested = (row: Waiting, kind: WaitKind): Waiting => ({
  ...row,
  kind,
  stream: null,
  version: null,
  next_at: null,
});

/** The event is on its way to whoever answers it. */
const offered = (
  event: RecordedEvent,
): Pick<Waiting, 'stream' | 'version' | 'since' | 'last_offer' | 'reoffers' | 'next_at'> => ({
  stream: event.stream,
  version: event.version,
  since: event.occurred_at,
  last_offer: event.occurred_at,
  reoffers: 0,
  next_at: firstLook(event.occurred_at),
});

const runReady = ({ waits, event, fields }: Change): LineageWaits => {
  const { task, run } = fields;
  const { project } = fields.scope;
  const ready = { root: event.root, task, kind: 'gate', project, run, started: false } as const;
  const version = { ready_version: event.version };
  return withRow({ ...waits, timers: withoutTimersOf(waits, task) }, { ...ready, ...version, ...offered(event) });
};

/** Its turn is not in anybody's answer: nothing is offered again, and nobody is late. */
const runQueued = ({ waits, event, fields }: Change): LineageWaits => {
  const row = queuedRow(event);
  if (row === null) return waits;
  const { task, run } = fields;
  const ready = { root: event.root, task, kind: 'queue', project: row.project, run, started: false } as const;
  const resting = { ...ready, ready_version: null, ...offered(event), stream: null, version: null, next_at: null };
  const rows = withRow({ ...waits, timers: withoutTimersOf(waits, task) }, resting);
  return { ...rows, queued: { ...waits.queued, [task]: row } };
};

/** An answer about the run that the row is about; late ones are of another run. */
const answered =
  (kind: (fields: Fields) => WaitKind, from: readonly WaitKind[] = ['gate', 'action', 'judge']) =>
  ({ waits, event, fields }: Change): LineageWaits => {
    const row = waits.waiting[fields.task];
    if (!row || row.run !== fields.run || row.ready_version === null || !from.includes(row.kind)) return waits;
    return withRow(waits, { ...row, kind: kind(fields), ...offered(event) });
  };

/** The run is with an executor: the offer it took is as old as before. */
const started = ({ waits, event, fields }: Change): LineageWaits => {
  const row = waits.waiting[fields.task];
  if (!row || row.run !== fields.run || !['gate', 'action'].includes(row.kind)) return waits;
  const next_at = firstLook(event.occurred_at);
  return withRow(waits, { ...row, kind: 'action', started: true, since: event.occurred_at, next_at });
};

const runEnded = ({ outcome, firewall_broken }: Fields): WaitKind =>
  (outcome === 'satisfied' || outcome === 'degraded') && firewall_broken === null ? 'judge' : 'decide';

/** One a lineage, whoever got more time. */
const deadlineOf = (event: RecordedEvent, at: string): TimerRow =>
  timer(event, at, { id: `${event.root}:deadline`, kind: 'deadline', task: event.root, number: 0 });

const withoutTimersOf = (waits: LineageWaits, task: string): LineageWaits['timers'] =>
  without(
    waits.timers,
    Object.values(waits.timers)
      .filter((row) => row.task === task && !isBeside(row))
      .map((row) => row.id),
  );

/** What was said is in the log. Where the same append begins nothing, a human is asked for more time or money. */
const settled = ({ waits, fields }: Change): LineageWaits => {
  const row = waits.waiting[fields.task];
  return row ? withRow(waits, rested(row, 'human')) : waits;
};

const counted = (change: Change): LineageWaits => (change.fields.next_at === null ? settled(change) : backsOff(change));

const backsOff = ({ waits, event, fields }: Change): LineageWaits => {
  const { task, run, next_at: at, phase } = fields;
  if (at === null) return waits;
  const row = waits.waiting[task];
  const resting = row ? withRow(waits, rested(row, 'timer')) : waits;
  if (phase !== 'council') {
    return withTimer(resting, timer(event, at, { id: `${task}:retry:${run}`, kind: 'retry', task, number: run }));
  }
  const number = row?.run ?? 0;
  return withTimer(resting, timer(event, at, { id: `${task}:request:${number}`, kind: 'request', task, number }));
};

/** Looked at now and then: what its children came to may have been missed. */
const waitsForChildren = ({ waits, event, fields }: Change): LineageWaits => {
  const row = waits.waiting[fields.task];
  if (row === undefined) return waits;
  const resting = withRow(waits, { ...rested(row, 'epic'), next_at: nextSweep(event.occurred_at) });
  return { ...resting, timers: withoutTimersOf(waits, fields.task) };
};

const epicOpened = (change: Change): LineageWaits =>
  waitsForChildren({ ...change, waits: tasksEnded(change.waits, change.fields.ended_tasks) });

const recomposeFailed = ({ waits, event, fields }: Change): LineageWaits => {
  const { task, attempt: number, next_at: at } = fields;
  const row = waits.waiting[task];
  const resting = row === undefined ? waits : withRow(waits, rested(row, 'timer'));
  return at === null
    ? resting
    : withTimer(resting, timer(event, at, { id: `${task}:recompose:${number}`, kind: 'recompose', task, number }));
};

const councilAsked = ({ waits, event, fields }: Change): LineageWaits => {
  const { task, request: run } = fields;
  const project = waits.waiting[task]?.project ?? '';
  const asked = { root: event.root, task, kind: 'council', project, run, started: false, ready_version: null } as const;
  return withRow({ ...waits, timers: withoutTimersOf(waits, task) }, { ...asked, ...offered(event) });
};

const councilAnswered = ({ waits, event, fields }: Change): LineageWaits => {
  const row = waits.waiting[fields.task];
  if (row?.kind !== 'council' || row.run !== fields.request) return waits;
  return withRow(waits, { ...row, kind: 'decide', ...offered(event) });
};

/** With a human: nothing is offered again by itself. What goes on beside the handoff is healed like anything else. */
const handedOff = ({ waits, fields }: Change): LineageWaits => {
  if (fields.run_open) return waits;
  const isOther = (task: string): boolean => unitIdOf(task) !== fields.task;
  const waiting = Object.fromEntries(
    Object.entries(waits.waiting).map(([task, row]) => [
      task,
      row.kind === 'fix' || isOther(task) ? row : rested(row, 'human'),
    ]),
  );
  const kept = Object.values(waits.timers).filter((row) => isBeside(row) || isOther(row.task));
  return { ...waits, waiting, timers: Object.fromEntries(kept.map((row) => [row.id, row])) };
};

const tasksEnded = (waits: LineageWaits, tasks: readonly string[]): LineageWaits => ({
  ...waits,
  waiting: without(waits.waiting, tasks),
  timers: tasks.reduce<LineageWaits['timers']>(
    (timers, task) => withoutTimersOf({ ...waits, timers }, task),
    waits.timers,
  ),
});

/** A root's end is the lineage's. */
const taskEnded = ({ waits, event, fields }: Change): LineageWaits =>
  fields.task === event.root ? NO_WAITS : tasksEnded(waits, [fields.task, ...fields.ended_tasks]);

const CHANGES: Readonly<Record<string, (change: Change) => LineageWaits>> = {
  task_submitted: ({ waits, event, fields: { deadline_at } }) => withTimer(waits, deadlineOf(event, deadline_at)),
  node_ready: runReady,
  node_queued: runQueued,
  governance_passed: answered(() => 'action', ['gate']),
  governance_blocked: answered(() => 'decide'),
  governance_escalated: answered(() => 'decide'),
  gate_faulted: answered(() => 'decide'),
  run_refused: answered(() => 'decide'),
  action_started: started,
  node_verified_action: answered(runEnded),
  post_validated: answered(() => 'decide'),
  run_counted: counted,
  fault_recorded: backsOff,
  decomposition_requested: councilAsked,
  split_decided: councilAnswered,
  council_faulted: councilAnswered,
  split_refused: settled,
  human_required: (change) => lifeBegins({ ...change, waits: handedOff(change) }),
  handoff_updated: handedOff,
  handoff_claimed: endMoves,
  handoff_warned: warned,
  handoff_expired: lifeEnds,
  handoff_withdrawn: lifeEnds,
  human_decided: lifeEnds,
  recovery_exhausted: ({ waits, fields }) => tasksEnded(waits, fields.ended_tasks),
  recovery_stalled: ({ waits, fields }) => tasksEnded(waits, fields.ended_tasks),
  deadline_passed: ({ waits, fields }) => ({ ...waits, timers: without(waits.timers, [`${fields.task}:deadline`]) }),
  budget_extended: ({ waits, event, fields: { deadline_at } }) => withTimer(waits, deadlineOf(event, deadline_at)),
  epic_opened: epicOpened,
  node_completed: waitsForChildren,
  recompose_failed: recomposeFailed,
  task_completed: taskEnded,
  task_blocked: taskEnded,
  task_cancelled: taskEnded,
  task_abandoned: taskEnded,
};

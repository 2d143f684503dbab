import type { OnExpiry } from '@fixpoint/contracts/documents/protocol';
import type { EventNamed, LineageEvent } from '@fixpoint/contracts/events/catalogue';
import { after } from './backoff.ts';
import type { Timer } from './commands.ts';
import { abandonUnit } from './decisions/abandon.ts';
import { allowedDecisions } from './decisions/decision-table.ts';
import { GRANTED, NOTHING } from './decisions/granted-by.ts';
import { openFixes } from './decisions/open-fixes.ts';
import { isMoving, retriedFrom, retryUnit } from './decisions/retry.ts';
import { lifted, rank } from './epics/affinity.ts';
import { followedBy, refOf, type Turn, taskOf, unitOf } from './lookup.ts';
import type { Facts, Handoff, Task } from './state.ts';
import { descendantsOf } from './tree.ts';

interface Open {
  readonly unitTask: Task;
  readonly handoff: Handoff;
}

type LifeTimer = Extract<Timer, { kind: 'warning' | 'expiry' }>;

/** All shares are of this. */
const WHOLE = 100;

/**
 * The life of an open handoff goes on. The timer was due by the store's clock, which alone is asked: what tells whether it
 * still counts is that the handoff is due at that very moment.
 */
export const handoffDue = (turn: Turn, timer: LifeTimer): Facts => {
  const open = openAt(turn, timer);
  if (open === null || open.handoff.warned === WHOLE) return [];
  const { warnAt, expiresAt } = open.handoff;
  const dueAt = timer.kind === 'warning' ? warnAt : expiresAt;
  if (Date.parse(dueAt) !== Date.parse(timer.dueAt)) return [];
  // It rang by the store's clock; the one here may be behind it, and must not be asked twice.
  const reached = { ...turn, now: laterOf(turn.now, dueAt) };
  return isUnwarned(turn, open.handoff) ? [warning(reached, open)] : expire(reached, open);
};

const laterOf = (one: string, other: string): string => (Date.parse(one) < Date.parse(other) ? other : one);

const openAt = ({ state }: Turn, { task, handoff: id }: LifeTimer): Open | null => {
  const unitTask = state.tasks[task];
  const handoff = state.units[task]?.handoff;
  return unitTask === undefined || !handoff || handoff.id !== id ? null : { unitTask, handoff };
};

const nextShare = ({ mode }: Turn, share: number): number | null =>
  mode.handoff_warnings.find((each) => each > share) ?? null;

/** Nobody is cut off who was not told before. */
const isUnwarned = (turn: Turn, { warned }: Handoff): boolean => nextShare(turn, warned) !== null;

/** What is left of a handoff's life after a share of it, ms. */
const leftAfter = ({ mode: { handoff_expiry_ms: life } }: Turn, share: number): number =>
  Math.ceil((life * (WHOLE - share)) / WHOLE);

/** One warning for all that are due; one that comes after the end moves the end, by what it promises to be left. */
const warning = (turn: Turn, { unitTask, handoff }: Open): LineageEvent => {
  const isLate = Date.parse(turn.now) >= Date.parse(handoff.expiresAt);
  const share = dueShare(turn, handoff);
  const expiresAt = isLate ? after(turn.now, leftAfter(turn, share)) : handoff.expiresAt;
  const next = nextShare(turn, share);
  const next_at = next === null ? expiresAt : after(expiresAt, -leftAfter(turn, next));
  const about = { ...refOf(turn.state, unitTask), handoff: handoff.id };
  return { type: 'handoff_warned', data: { ...about, share, expires_at: expiresAt, next_at } };
};

const dueShare = (turn: Turn, { expiresAt, warned }: Handoff): number => {
  const first = nextShare(turn, warned) ?? WHOLE;
  const isDue = (share: number): boolean => Date.parse(expiresAt) - leftAfter(turn, share) <= Date.parse(turn.now);
  return turn.mode.handoff_warnings.findLast((share) => share > first && isDue(share)) ?? first;
};

interface Outcome {
  readonly outcome: OnExpiry;
  readonly reason: string;
}

const expire = (turn: Turn, open: Open): Facts => {
  const { outcome, reason } = outcomeOf(turn, open);
  const expired = { type: 'handoff_expired', data: expiredData(turn, open, { outcome, reason }) } as const;
  if (outcome === 'keep') return [expired];
  return followedBy(turn, [expired], (later) => {
    const task = taskOf(later.state, open.unitTask.id);
    return outcome === 'retry' ? retry(later, task, open.handoff) : abandonUnit(later, task, { ...open, reason });
  });
};

/** As declared, unless that is not for a timer to do: then it is kept. */
const outcomeOf = (turn: Turn, open: Open): Outcome => {
  const { onExpiry } = open.handoff;
  const against = AGAINST[onExpiry](turn, open);
  return against === null
    ? { outcome: onExpiry, reason: 'nobody decided in time' }
    : { outcome: 'keep', reason: against };
};

const AGAINST: Readonly<Record<OnExpiry, (turn: Turn, open: Open) => string | null>> = {
  keep: () => null,
  retry: (turn, { unitTask, handoff }) => {
    if (unitOf(turn.state, unitTask).retriedByTimer)
      return 'it was tried again by itself before, and that happens once';
    if (isMoving(turn, unitTask)) return 'what runs is still to be answered';
    const isAllowed = allowedDecisions(turn, unitTask, handoff.causes).includes('retry');
    return isAllowed ? null : 'this handoff allows no retry';
  },
  abandon: (turn, { unitTask }) => {
    if (unitTask.landing !== null) return 'what it did is verified, and only has not landed';
    const isVerified = descendantsOf(turn.state, unitTask.id).some(
      ({ kind, status }) => kind === 'child' && status === 'completed',
    );
    return isVerified ? 'a child of it is done, and verified work is not given up by itself' : null;
  },
};

type Expired = EventNamed<'handoff_expired'>['data'];

const expiredData = (turn: Turn, { unitTask, handoff }: Open, { outcome, reason }: Outcome): Expired => {
  const about = { ...refOf(turn.state, unitTask), handoff: handoff.id, outcome, declared: handoff.onExpiry, reason };
  if (outcome !== 'retry') return { ...about, node_index: null, ended_tasks: [], granted: NOTHING };
  const isAboutUnit = handoff.paused.task === unitTask.id;
  return {
    ...about,
    node_index: retriedFrom(unitTask, handoff, RETRY),
    ended_tasks: isAboutUnit ? openFixes(turn, unitTask) : [],
    granted: GRANTED.retry,
  };
};

const RETRY = { kind: 'retry', from_node: null } as const;

/** What was sunk below the rank that is dispatched would wait for a human all the same. */
const retry = (turn: Turn, unitTask: Task, handoff: Handoff): Facts => {
  const { start } = unitOf(turn.state, unitTask);
  const lift = rank(turn, unitTask, { change: (affinity) => lifted(affinity, start), reason: 'expired' });
  return followedBy(turn, lift, (later) =>
    retryUnit(later, taskOf(later.state, unitTask.id), { handoff, decision: RETRY }),
  );
};

import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { Refused } from '@fixpoint/decider/refused';
import {
  type Decision,
  type DomainEvent,
  type Judgement,
  type Planned,
  planStream,
  type StreamPlan,
} from './decision-plan.ts';
import type { Append, AppendOutcome, AppendRejection, EventStore } from './event-store.ts';
import { readStates } from './read-states.ts';
import type { Snapshots } from './snapshots.ts';
import type { StateCache } from './state-cache.ts';

/** Everything the shell around a decider needs; one per handler, with a cache that handlers of one decider may share. */
export interface DecisionShell<Command, Event, State> extends Judgement<Command, Event, State> {
  readonly store: EventStore;
  readonly states: StateCache<State>;
  /** States of long streams as they were some time ago; left out, every stream is folded from its start. */
  readonly snapshots?: Snapshots<State> | undefined;
}

export type DecisionOutcome =
  /** Stored; empty when it was already so. */
  | { readonly outcome: 'decided'; readonly events: readonly RecordedEvent[] }
  | { readonly outcome: 'refused'; readonly refused: Refused }
  /** A bug (the decider threw, the store rejected) or too much contention; nothing of this decision was stored. */
  | { readonly outcome: 'failed'; readonly error: Error };

/** The store will never take this decision: a bug, not to be retried. */
export class AppendRejected extends Error {
  override readonly name = 'AppendRejected';
  readonly code: AppendRejection;

  constructor(stream: string, code: AppendRejection, detail: string) {
    super(`${stream}: ${code}: ${detail}`);
    this.code = code;
  }
}

/** Others were faster every time: the world's doing, worth another try later. */
export class DecisionContended extends Error {
  override readonly name = 'DecisionContended';
}

/** The first try, and three more after a conflict. */
const ATTEMPTS = 4;

/** One decision on its way, with its place in the answer. */
interface Ticket<Command> {
  readonly decision: Decision<Command>;
  readonly index: number;
}

interface StreamWork<Command, State> {
  readonly stream: string;
  readonly tickets: readonly Ticket<Command>[];
  readonly plan: StreamPlan<Command, State>;
  /** The state was read in this attempt, not taken from the cache. */
  readonly fresh: boolean;
  readonly version: number;
}

/**
 * Read, fold, decide, append at the version read; after a conflict again, up to three times. Nothing is read while the
 * cache knows the stream. Deciders only: never put an effect in here, a retry would do it twice.
 * @returns one outcome per decision, in the order given. Decisions of one stream are made one after the other, each on
 * what the one before left, and stored in as few statements as possible.
 * @throws the store's fault (lost connection, time-out): nobody knows what was stored, so repeat all with the same causes.
 */
export const runDecisions = async <Command, Event extends DomainEvent, State>(
  shell: DecisionShell<Command, Event, State>,
  decisions: readonly Decision<Command>[],
): Promise<readonly DecisionOutcome[]> => {
  const outcomes = new Map<number, DecisionOutcome>();
  let open: readonly Ticket<Command>[] = decisions.map((decision, index) => ({ decision, index }));
  for (let attempt = 1; open.length > 0 && attempt <= ATTEMPTS; attempt += 1) {
    open = await runOnce(shell, open, outcomes);
  }
  return decisions.map(({ stream }, index) => outcomes.get(index) ?? contended(stream));
};

const contended = (stream: string): DecisionOutcome => ({
  outcome: 'failed',
  error: new DecisionContended(`${stream}: other writers were faster ${ATTEMPTS} times`),
});

/**
 * One decision of {@link runDecisions}.
 * @throws {Refused} when a rule forbids it.
 * @throws {DecisionContended} when other writers were faster every time.
 * @throws {AppendRejected} when the store will never take it.
 */
export const runDecision = async <Command, Event extends DomainEvent, State>(
  shell: DecisionShell<Command, Event, State>,
  decision: Decision<Command>,
): Promise<{ readonly events: readonly RecordedEvent[] }> => {
  const [outcome] = await runDecisions(shell, [decision]);
  if (outcome?.outcome === 'refused') throw outcome.refused;
  if (outcome?.outcome === 'failed') throw outcome.error;
  return { events: outcome?.events ?? [] };
};

/** @returns what has to be decided again; everything else has its outcome. */
const runOnce = async <Command, Event extends DomainEvent, State>(
  shell: DecisionShell<Command, Event, State>,
  tickets: readonly Ticket<Command>[],
  outcomes: Map<number, DecisionOutcome>,
): Promise<readonly Ticket<Command>[]> => {
  const works = await plan(shell, tickets);
  const stored = await appendPlans(shell.store, works);
  const current = await Promise.all(works.map((work) => isCurrent(shell.store, work)));
  return works.flatMap((work, index) => {
    if (current[index] === true) return settle(shell.states, work, { stored, outcomes });
    shell.states.delete(work.stream);
    return work.tickets;
  });
};

const plan = async <Command, Event extends DomainEvent, State>(
  shell: DecisionShell<Command, Event, State>,
  tickets: readonly Ticket<Command>[],
): Promise<readonly StreamWork<Command, State>[]> => {
  const byStream = Map.groupBy(tickets, ({ decision }) => decision.stream);
  const cached = new Map([...byStream.keys()].map((stream) => [stream, shell.states.get(stream)]));
  const read = await readStates(
    shell,
    [...byStream.keys()].filter((stream) => cached.get(stream) === undefined),
  );
  return [...byStream].map(([stream, group]) => {
    const fresh = cached.get(stream) === undefined;
    const start = cached.get(stream) ?? read.get(stream) ?? { state: shell.decider.initial, version: 0 };
    const decisions = group.map(({ decision }) => decision);
    if ('unfoldable' in start) {
      return { stream, tickets: group, plan: hopeless(decisions, start.unfoldable), fresh, version: 0 };
    }
    return { stream, tickets: group, plan: planStream(shell, start, decisions), fresh, version: start.version };
  });
};

/** Nothing can be decided on a stream that can't be folded; the streams beside it must not wait for it. */
const hopeless = <Command, State>(
  decisions: readonly Decision<Command>[],
  error: unknown,
): StreamPlan<Command, State> => ({
  steps: decisions.map((decision) => ({ decision, result: { kind: 'thrown', error } })),
  after: [],
});

const appendsOf = (work: StreamWork<unknown, unknown>): readonly Append[] =>
  work.plan.steps.flatMap(({ result }) => (result.kind === 'append' ? [result.append] : []));

/** A fault leaves the cache as it is: should anything have been stored, the next append or look at the version finds out. */
const appendPlans = async (
  store: EventStore,
  works: readonly StreamWork<unknown, unknown>[],
): Promise<ReadonlyMap<Append, AppendOutcome>> => {
  const appends = works.flatMap(appendsOf);
  if (appends.length === 0) return new Map();
  const outcomes = await store.appendAll(appends);
  return new Map(appends.map((append, index) => [append, outcomes[index] ?? { outcome: 'conflict' }]));
};

/** "Already so" and "refused" said on a cached state hold only while the stream is still at that version; an append proves it. */
const isCurrent = async <Command, State>(store: EventStore, work: StreamWork<Command, State>): Promise<boolean> => {
  if (work.fresh || appendsOf(work).length > 0) return true;
  return (await store.readStream(work.stream, work.version + 1)).length === 0;
};

interface Settling {
  readonly stored: ReadonlyMap<Append, AppendOutcome>;
  readonly outcomes: Map<number, DecisionOutcome>;
}

/**
 * Final is what the last stored append proves: itself and all before it. After an append that was not stored, the rest is
 * decided again, "already so" and refusals included; a rejected one is final too and is left out.
 */
const settle = <Command, State>(
  states: StateCache<State>,
  work: StreamWork<Command, State>,
  { stored, outcomes }: Settling,
): readonly Ticket<Command>[] => {
  const { stream, tickets, plan } = work;
  const results = plan.steps.map(({ result }) => (result.kind === 'append' ? stored.get(result.append) : undefined));
  const failed = results.findIndex((result) => result !== undefined && result.outcome !== 'appended');
  const proven =
    failed < 0 ? tickets.length : results.slice(0, failed).findLastIndex((result) => result !== undefined) + 1;
  for (const [place, { index }] of tickets.slice(0, proven).entries()) {
    outcomes.set(index, outcomeOf(results[place], plan.steps[place]?.result));
  }
  const last = plan.after.at(-1);
  if (failed < 0 && last !== undefined) states.set(stream, last);
  if (failed < 0) return [];
  states.delete(stream);
  const loser = results[failed];
  if (loser?.outcome !== 'rejected') return tickets.slice(proven);
  const error = new AppendRejected(stream, loser.code, loser.detail);
  const rejected = tickets[failed];
  if (rejected !== undefined) outcomes.set(rejected.index, { outcome: 'failed', error });
  return tickets.filter((ticket, place) => place >= proven && ticket !== rejected);
};

const outcomeOf = (
  stored: AppendOutcome | undefined,
  result: Planned<unknown>['result'] | undefined,
): DecisionOutcome => {
  if (stored?.outcome === 'appended') return { outcome: 'decided', events: stored.events };
  if (result?.kind !== 'thrown') return { outcome: 'decided', events: [] };
  const { error } = result;
  if (error instanceof Refused) return { outcome: 'refused', refused: error };
  return { outcome: 'failed', error: error instanceof Error ? error : new Error(String(error)) };
};

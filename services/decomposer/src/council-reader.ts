import type { Clock, Ids } from '@fixpoint/contracts/clock';
import type { ModeSpec, ProtocolRef } from '@fixpoint/contracts/documents/protocol';
import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { UnreadableEvent } from '@fixpoint/contracts/events/parse-event';
import type { Scope } from '@fixpoint/contracts/events/scope';
import { READERS } from '@fixpoint/contracts/services';
import { councilStream } from '@fixpoint/contracts/streams';
import { Refused } from '@fixpoint/decider/refused';
import type { EventStore } from '@fixpoint/event-store/event-store';
import { AppendRejected, DecisionContended } from '@fixpoint/event-store/run-decision';
import type { Offer, Reader, Verdict } from '@fixpoint/messaging/bus';
import type { OwnedWork } from '@fixpoint/messaging/owned-work';
import { type Publisher, publicationsOf } from '@fixpoint/messaging/publisher';
import { failedBy, workVerdict } from '@fixpoint/messaging/work-verdict';
import { CouncilFault, type CouncilModel } from '@fixpoint/models/council-model';
import { faultOf, nextCommand } from './ask-council.ts';
import { type OpenRequest, openRequest } from './council-answer.ts';
import { type Evidence, type EvidenceDeps, gatherEvidence } from './evidence.ts';

export const DECOMPOSER_COUNCIL = 'decomposer__council';

export interface CouncilReaderDeps extends EvidenceDeps {
  readonly store: EventStore;
  readonly publisher: Publisher;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Measures how long a council may take. */
  readonly timer: Pick<Clock, 'sleep'>;
  readonly work: OwnedWork;
  readonly modeOf: (scope: Scope, protocol: ProtocolRef) => Promise<ModeSpec>;
  /** Null: an installation without a council. */
  readonly model: CouncilModel | null;
  readonly deadLetter: Reader['deadLetter'];
}

const DONE: Verdict = { verdict: 'done' };

/** Answers every request for a split; one that is answered already is answered again with what is stored. */
export const councilReader = (deps: CouncilReaderDeps): Reader => ({
  name: DECOMPOSER_COUNCIL,
  types: READERS[DECOMPOSER_COUNCIL],
  mode: { kind: 'pool', concurrency: 8 },
  maxFailures: 5,
  handle: (offers, signal) => Promise.all(offers.map((offer) => answer(deps, offer, signal))),
  deadLetter: deps.deadLetter,
});

const answer = (deps: CouncilReaderDeps, offer: Offer, shutdown: AbortSignal): Promise<Verdict> =>
  answerRequest(deps, offer.event, shutdown).catch((error: unknown) => {
    if (error instanceof DecisionContended) return { verdict: 'later', delayMs: 100, reason: error.message };
    // What the event says, a rule forbids or the store refuses will be the same next time.
    if (error instanceof UnreadableEvent || error instanceof Refused || error instanceof AppendRejected)
      return failedBy(error, offer);
    // The world's doing pauses the reader, a bug counts: the work loop tells them apart.
    throw error;
  });

const answerRequest = async (
  deps: CouncilReaderDeps,
  event: RecordedEvent,
  shutdown: AbortSignal,
): Promise<Verdict> => {
  const open = await openRequest({ ...deps, handler: DECOMPOSER_COUNCIL }, event);
  if (open.state().next === 'nothing') return giveAgain(deps, open);
  if (deps.model === null || !hasRoom(open)) return convene(deps, open, []);
  const { root, task, request } = open.about;
  const work = { stream: councilStream(task, request), phase: 'council', root, task };
  const result = await deps.work.run(work, shutdown, (signal) => underLease(deps, event, signal));
  if (result.outcome === 'done') return result.result;
  return result.outcome === 'held' ? DONE : workVerdict(result.reason);
};

/** Without room for two children nobody needs to be asked, and nobody is. */
const hasRoom = ({ request: { budget } }: OpenRequest): boolean => budget.children_left >= 2 && budget.depth_left >= 1;

const convene = async (deps: CouncilReaderDeps, open: OpenRequest, documents: readonly string[]): Promise<Verdict> => {
  const { about, request } = open;
  const adapter = deps.model?.name ?? null;
  publish(deps, await open.record({ about, type: 'convene', adapter, documents, room: request.budget }));
  return DONE;
};

const giveAgain = async (deps: CouncilReaderDeps, { about }: OpenRequest): Promise<Verdict> => {
  const events = await deps.store.readStream(councilStream(about.task, about.request));
  deps.publisher.publish(publicationsOf(events, null, deps.ids.uuid()));
  return DONE;
};

const publish = ({ publisher }: CouncilReaderDeps, events: readonly RecordedEvent[]): void => {
  if (events.length > 0) publisher.publish(publicationsOf(events, null));
};

/** Goes on from what is stored, whoever stored it; what was answered is not asked again. */
const underLease = async (deps: CouncilReaderDeps, event: RecordedEvent, stop: AbortSignal): Promise<Verdict> => {
  const open = await openRequest({ ...deps, handler: DECOMPOSER_COUNCIL }, event);
  const { about } = open;
  const prepared = await prepare(deps, open).catch((error: unknown) => ({ fault: faultOf(error) }));
  if (stop.aborted) return workVerdict(stop.reason);
  if ('fault' in prepared) {
    publish(deps, await open.record({ about, type: 'fault', ...prepared }));
    return DONE;
  }
  await convene(
    deps,
    open,
    prepared.evidence.documents.map(({ path }) => path),
  );
  const time = timeLimit(deps.timer, open.request.budget.time_ms, stop);
  try {
    return await askToTheEnd(deps, open, { prepared, time, stop });
  } finally {
    time.cancel();
  }
};

interface Session {
  readonly prepared: Prepared;
  readonly time: ReturnType<typeof timeLimit>;
  readonly stop: AbortSignal;
}

const askToTheEnd = async (
  deps: CouncilReaderDeps,
  open: OpenRequest,
  { prepared, time, stop }: Session,
): Promise<Verdict> => {
  while (open.state().next !== 'nothing') {
    const asking = { ...prepared, clock: deps.clock, signal: time.signal };
    const command = await Promise.race([nextCommand(open, asking), time.stopped]);
    if (stop.aborted) return workVerdict(stop.reason);
    publish(deps, await open.record(time.isOver() || !command ? timedOut(open) : command));
  }
  return DONE;
};

interface Prepared {
  readonly model: CouncilModel;
  readonly evidence: Evidence;
  readonly mode: ModeSpec;
}

const prepare = async (deps: CouncilReaderDeps, { request }: OpenRequest): Promise<Prepared> => {
  if (deps.model === null) throw new CouncilFault('internal', 'there is no council');
  const mode = await deps.modeOf(request.scope, request.protocol);
  return { model: deps.model, mode, evidence: await gatherEvidence(deps, request) };
};

const timedOut = ({ about, request: { budget } }: OpenRequest) => {
  const detail = `no answer within ${budget.time_ms} ms`;
  return { about, type: 'fault', fault: { class: 'run_timeout', retry_after_ms: 0, detail } } as const;
};

/** Stops the council inside the time of its request, and with the work itself. */
const timeLimit = (timer: Pick<Clock, 'sleep'>, ms: number, stop: AbortSignal) => {
  const asked = new AbortController();
  const waited = new AbortController();
  const end = (): void => asked.abort(stop.reason);
  stop.addEventListener('abort', end, { once: true });
  const slept = timer.sleep(ms, waited.signal).then(
    () => asked.abort('time_out'),
    () => undefined,
  );
  return {
    signal: asked.signal,
    /** However much longer the council itself takes to notice. */
    stopped: new Promise<void>((resolve) => asked.signal.addEventListener('abort', () => resolve())),
    isOver: () => asked.signal.reason === 'time_out',
    cancel: (): void => {
      waited.abort();
      stop.removeEventListener('abort', end);
      void slept;
    },
  };
};

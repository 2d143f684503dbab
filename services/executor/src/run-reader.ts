import type { Clock } from '@fixpoint/contracts/clock';
import type { ModeSpec, ProtocolRef } from '@fixpoint/contracts/documents/protocol';
import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import type { EventNamed } from '@fixpoint/contracts/events/catalogue';
import { readEvent, UnreadableEvent } from '@fixpoint/contracts/events/parse-event';
import { startHash } from '@fixpoint/contracts/run-token';
import { READERS } from '@fixpoint/contracts/services';
import { actionStream } from '@fixpoint/contracts/streams';
import { ProtocolUnknown } from '@fixpoint/documents/protocol-catalog';
import type { EventStore } from '@fixpoint/event-store/event-store';
import { AppendRejected } from '@fixpoint/event-store/run-decision';
import type { Offer, Reader, Verdict } from '@fixpoint/messaging/bus';
import type { OwnedWork } from '@fixpoint/messaging/owned-work';
import { type Publisher, publicationsOf } from '@fixpoint/messaging/publisher';
import { hasEnded, nodeReadyBehind } from '@fixpoint/messaging/run-lookup';
import { failedBy, workVerdict } from '@fixpoint/messaging/work-verdict';
import { firewallHash } from '@fixpoint/validation/firewall';
import { type ActionLog, actionLog, RunLost } from './action-log.ts';
import type { PrimitiveCalls } from './ladder/primitive-calls.ts';
import type { ToolCall } from './ladder/recorded-commands.ts';
import {
  ACTION_PHASE,
  type Assignment,
  confinementOf,
  type GovernancePassed,
  isInProcess,
  type NodeReady,
} from './run/assignment.ts';
import { inProcessRun } from './run/in-process-run.ts';
import { longRun } from './run/long-run.ts';
import { endLostRun } from './run/lost-run.ts';
import { recordedEvidence } from './run/recorded-evidence.ts';
import type { LongRunDeps } from './run/run-end.ts';
import type { Expected, TokenCheck } from './token-check.ts';

export const EXECUTOR_RUN = 'executor__run';

export interface RunReaderDeps extends LongRunDeps {
  readonly store: EventStore;
  readonly publisher: Publisher;
  readonly work: OwnedWork;
  readonly primitives: PrimitiveCalls;
  readonly clock: Clock;
  readonly checkToken: TokenCheck;
  readonly modeOf: (scope: NodeReady['scope'], protocol: ProtocolRef) => Promise<ModeSpec>;
  /** A value never used before. */
  readonly fresh: () => string;
  /** Offers in hand at once; those with long work wait for a slot of their own. */
  readonly concurrency: number;
  readonly deadLetter: Reader['deadLetter'];
}

const DONE: Verdict = { verdict: 'done' };

/**
 * Reader `executor__run`: takes a run that may start, once, and does it.
 * An offer of a run that somebody works on does nothing; a started run without an owner is ended as lost and never done
 * again; a run that has ended has its answer published again.
 */
export const runReader = (deps: RunReaderDeps): Reader => ({
  name: EXECUTOR_RUN,
  types: READERS[EXECUTOR_RUN],
  mode: { kind: 'pool', concurrency: deps.concurrency },
  maxFailures: 5,
  handle: (offers, signal) => Promise.all(offers.map((offer) => handleReadable(deps, offer, signal))),
  deadLetter: deps.deadLetter,
});

/** What can't be read, or what the store will never take, is the message's fault; everything else is the world's. */
const handleReadable = async (deps: RunReaderDeps, offer: Offer, shutdown: AbortSignal): Promise<Verdict> => {
  try {
    return await handleOffer(deps, offer, shutdown);
  } catch (error) {
    if (error instanceof UnreadableEvent || error instanceof AppendRejected) return failedBy(error, offer);
    throw error;
  }
};

const handleOffer = async (deps: RunReaderDeps, offer: Offer, shutdown: AbortSignal): Promise<Verdict> => {
  const passed = readEvent(offer.event, 'governance_passed');
  const nodeReadyEvent = await nodeReadyBehind(deps.store, offer, passed);
  if (nodeReadyEvent === null) return { verdict: 'failed', error: `no node_ready for ${passed.task}#${passed.run}` };
  const nodeReady = readEvent(nodeReadyEvent, 'node_ready');
  const work: Work = { offer, passed, nodeReady, nodeReadyEvent, stream: actionStream(passed.task, passed.run) };
  return isInProcess(nodeReady, deps.primitives) ? handleInProcess(deps, work) : handleLong(deps, work, shutdown);
};

interface Work {
  readonly offer: Offer;
  readonly passed: GovernancePassed;
  readonly nodeReady: NodeReady;
  readonly nodeReadyEvent: RecordedEvent;
  readonly stream: string;
}

const openLog = (deps: RunReaderDeps, work: Work, history: readonly RecordedEvent[]): ActionLog =>
  actionLog(
    { store: deps.store, clock: deps.clock, producer: EXECUTOR_RUN },
    { stream: work.stream, root: work.passed.root, cause: work.offer.event },
    history,
  );

const publish = (deps: RunReaderDeps, work: Work, events: readonly RecordedEvent[]): void =>
  deps.publisher.publish(publicationsOf(events, work.nodeReadyEvent));

/** Finds the mode and checks the token; null when the run was refused, which is recorded. */
const admit = async (
  deps: RunReaderDeps,
  work: Work,
  log: ActionLog,
): Promise<(Assignment & { tokenId: string }) | null> => {
  const { passed, nodeReady } = work;
  const admission = await askAdmission(deps, work);
  if ('mode' in admission) {
    return { nodeReady, passed, evidence: await recordedEvidence(deps.store, nodeReady), ...admission };
  }
  const { root, task, address, run } = passed;
  publish(deps, work, await log.append({ type: 'refuse_run', data: { root, task, address, run, ...admission } }));
  return null;
};

type Refusal = Pick<EventNamed<'run_refused'>['data'], 'reason' | 'detail'>;

const askAdmission = async (
  deps: RunReaderDeps,
  work: Work,
): Promise<{ mode: ModeSpec; tokenId: string } | Refusal> => {
  const { scope, protocol } = work.nodeReady;
  try {
    const mode = await deps.modeOf(scope, protocol);
    const verdict = await deps.checkToken(work.passed.token, expectedOf(work, mode), deps.clock.now());
    if (!verdict.valid) return { reason: verdict.reason, detail: verdict.detail };
    const confinement = confinementOf(deps.sandboxPolicy, { nodeReady: work.nodeReady, mode });
    if ('refused' in confinement) return { reason: confinement.refused, detail: confinement.detail };
    return { mode, tokenId: verdict.claims.jti };
  } catch (error) {
    if (error instanceof ProtocolUnknown) return { reason: 'protocol_unknown', detail: error.message };
    throw error;
  }
};

const expectedOf = ({ passed, nodeReady }: Work, mode: ModeSpec): Expected => ({
  root: passed.root,
  task: passed.task,
  run: passed.run,
  run_kind: nodeReady.run_kind,
  spec_hash: nodeReady.spec_hash,
  firewall_hash: firewallHash({ node: nodeReady.node, mode }),
  start_hash: startHash(nodeReady),
  project: nodeReady.scope.project,
  mode: nodeReady.scope.mode,
});

const startedData = (deps: RunReaderDeps, { passed, nodeReady }: Work, tokenId: string) => ({
  root: passed.root,
  task: passed.task,
  address: passed.address,
  run: passed.run,
  owner: deps.owner,
  token_id: tokenId,
  run_kind: nodeReady.run_kind,
  node_id: nodeReady.node.id,
});

/** Numbers the calls of a run as they come. */
const callRecorder = ({ passed }: Work, keep: (call: ToolCall & ReturnType<typeof placeOf>) => Promise<void>) => {
  let seq = 0;
  return async (call: ToolCall): Promise<void> => {
    seq += 1;
    await keep({ ...placeOf(passed, seq), ...call });
  };
};

const placeOf = ({ root, task, address, run }: GovernancePassed, seq: number) => ({ root, task, address, run, seq });

const handleInProcess = async (deps: RunReaderDeps, work: Work): Promise<Verdict> => {
  const log = openLog(deps, work, []);
  try {
    const assignment = await admit(deps, work, log);
    if (assignment === null) return DONE;
    const calls: Parameters<Parameters<typeof callRecorder>[1]>[0][] = [];
    const record = callRecorder(work, async (call) => void calls.push(call));
    const ended = await inProcessRun(deps, assignment, record);
    const started = startedData(deps, work, assignment.tokenId);
    publish(deps, work, await log.append({ type: 'run_in_process', started, calls, ended }));
    return DONE;
  } catch (error) {
    if (!(error instanceof RunLost)) throw error;
    return answerAgain(deps, work, await deps.store.readStream(work.stream));
  }
};

/** The run has its end, or never will: publish what there is. */
const answerAgain = (deps: RunReaderDeps, work: Work, history: readonly RecordedEvent[]): Verdict => {
  deps.publisher.publish(publicationsOf(history, work.nodeReadyEvent, deps.fresh()));
  return DONE;
};

const handleLong = async (deps: RunReaderDeps, work: Work, shutdown: AbortSignal): Promise<Verdict> => {
  const { root, task, run } = work.passed;
  const piece = { stream: work.stream, phase: ACTION_PHASE, root, task, run };
  const result = await deps.work.run(piece, shutdown, (signal) => underLease(deps, work, signal));
  if (result.outcome === 'done') return result.result;
  // A run of somebody who is gone is ended by the reapers.
  return result.outcome === 'held' ? DONE : workVerdict(result.reason);
};

const underLease = async (deps: RunReaderDeps, work: Work, signal: AbortSignal): Promise<Verdict> => {
  const log = openLog(deps, work, await deps.store.readStream(work.stream));
  try {
    switch (log.state().status) {
      case 'unknown':
        return await startAndRun(deps, work, { log, signal });
      case 'started':
        publish(deps, work, await declareLost(deps, work, log.events()));
        return DONE;
      default:
        return answerAgain(deps, work, log.events());
    }
  } catch (error) {
    if (!(error instanceof RunLost)) throw error;
    return answerAgain(deps, work, await deps.store.readStream(work.stream));
  }
};

const declareLost = async (
  deps: RunReaderDeps,
  { nodeReadyEvent: nodeReady }: Work,
  [started, ...rest]: readonly RecordedEvent[],
): Promise<readonly RecordedEvent[]> =>
  started === undefined ? [] : endLostRun(deps, { nodeReady, history: [started, ...rest] });

const startAndRun = async (
  deps: RunReaderDeps,
  work: Work,
  { log, signal }: { readonly log: ActionLog; readonly signal: AbortSignal },
): Promise<Verdict> => {
  if (signal.aborted) return workVerdict(signal.reason);
  const assignment = await admit(deps, work, log);
  if (assignment === null) return DONE;
  if (await hasEnded(deps.store, work.passed)) return DONE;
  await log.append({ type: 'start_action', data: startedData(deps, work, assignment.tokenId) });
  const record = callRecorder(work, async (data) => {
    await log.append({ type: 'record_tool_call', owner: deps.owner, data });
  });
  const { report, delivered } = await longRun(deps, assignment, { record, signal });
  // Somebody else's run now: nothing more may be said about it.
  if (signal.reason === 'lease_lost') return DONE;
  publish(deps, work, await log.append({ type: 'end_run', owner: deps.owner, data: report, delivered }));
  return DONE;
};

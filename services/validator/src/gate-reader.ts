import type { ModeSpec, ProtocolRef } from '@fixpoint/contracts/documents/protocol';
import { readEvent } from '@fixpoint/contracts/events/parse-event';
import { READERS } from '@fixpoint/contracts/services';
import { gateStream } from '@fixpoint/contracts/streams';
import type { Offer, Reader, Verdict } from '@fixpoint/messaging/bus';
import type { OwnedWork } from '@fixpoint/messaging/owned-work';
import { NEVER, workVerdict } from '@fixpoint/messaging/work-verdict';
import { type AnswerDeps, DONE, giveAgain, giveAnswer, type Question, verdictOf } from './answer.ts';
import type { GateAnswer } from './domain/gate.ts';
import { type Asked, askGate, type GateDeps, isLongGate, VERDICT_BYTES } from './gate-question.ts';
import { NOTHING_RECORDED, recordedVerdicts } from './recorded-verdicts.ts';
import type { NodeReady } from './run-lookup.ts';
import { faultEvent, faultOf, unknownProtocol } from './verdicts.ts';

export const VALIDATOR_GATE = 'validator__gate';

export interface GateReaderDeps extends Omit<GateDeps, 'store'>, AnswerDeps {
  readonly modeOf: (scope: NodeReady['scope'], protocol: ProtocolRef) => Promise<ModeSpec>;
  readonly work: OwnedWork;
  /** Offers in hand at once; those with long work wait for a slot of their own. */
  readonly concurrency: number;
  readonly deadLetter: Reader['deadLetter'];
}

/** Reader `validator__gate`: answers every run that is ready, once. */
export const gateReader = (deps: GateReaderDeps): Reader => ({
  name: VALIDATOR_GATE,
  types: READERS[VALIDATOR_GATE],
  mode: { kind: 'pool', concurrency: deps.concurrency },
  maxFailures: 5,
  handle: (offers, signal) => Promise.all(offers.map((offer) => handleOffer(deps, offer, signal))),
  deadLetter: deps.deadLetter,
});

const handleOffer = async (deps: GateReaderDeps, { event }: Offer, shutdown: AbortSignal): Promise<Verdict> => {
  try {
    const run = readEvent(event, 'node_ready');
    const stream = gateStream(run.task, run.run);
    const expected = { state: 'unknown', version: 0 } as const;
    const question: Question = { handler: VALIDATOR_GATE, stream, cause: event, nodeReady: event, expected };
    const mode = await deps.modeOf(run.scope, run.protocol).catch(unknownProtocol);
    if ('detail' in mode) return giveGate(deps, question, faultEvent(run, 'gate', mode));
    return isLongGate(mode)
      ? await answerLong(deps, question, { run, mode, shutdown })
      : await giveGate(deps, question, await answerOf(deps, run, { mode, signal: NEVER, recorded: NOTHING_RECORDED }));
  } catch (error) {
    return verdictOf(error, event);
  }
};

const giveGate = (deps: GateReaderDeps, question: Question, answer: GateAnswer): Promise<Verdict> =>
  giveAnswer(deps, question, { type: 'answer_gate', answer });

/** Whatever goes wrong while validators are asked is an answer of its own: the run must not wait for ever. */
const answerOf = (deps: GateReaderDeps, run: NodeReady, how: Asked): Promise<GateAnswer> =>
  askGate(deps, run, how).catch((error: unknown) => faultEvent(run, 'gate', faultOf(error)));

interface Long {
  readonly run: NodeReady;
  readonly mode: ModeSpec;
  readonly shutdown: AbortSignal;
}

const answerLong = async (
  deps: GateReaderDeps,
  question: Question,
  { run, mode, shutdown }: Long,
): Promise<Verdict> => {
  const { stream } = question;
  const work = { stream, phase: 'gate', root: run.root, task: run.task, run: run.run };
  const result = await deps.work.run(work, shutdown, async (signal) => {
    if ((await deps.store.readStream(stream)).length > 0) return giveAgain(deps, question);
    const { cause } = question;
    const recorded = await recordedVerdicts(deps, { run, phase: 'gate', cause, mostBytes: VERDICT_BYTES });
    const answer = await answerOf(deps, run, { mode, signal, recorded });
    return signal.aborted ? workVerdict(signal.reason) : giveGate(deps, question, answer);
  });
  if (result.outcome === 'done') return result.result;
  return result.outcome === 'held' ? DONE : workVerdict(result.reason);
};

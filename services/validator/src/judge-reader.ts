import type { ModeSpec, ProtocolRef } from '@fixpoint/contracts/documents/protocol';
import { readEvent } from '@fixpoint/contracts/events/parse-event';
import { READERS } from '@fixpoint/contracts/services';
import { gateStream } from '@fixpoint/contracts/streams';
import type { Offer, Reader, Verdict } from '@fixpoint/messaging/bus';
import type { OwnedWork } from '@fixpoint/messaging/owned-work';
import { nodeReadyBehind } from '@fixpoint/messaging/run-lookup';
import { NEVER, workVerdict } from '@fixpoint/messaging/work-verdict';
import { type AnswerDeps, DONE, giveAgain, giveAnswer, type Question, verdictOf } from './answer.ts';
import type { Judgement } from './domain/gate.ts';
import { VERDICT_BYTES } from './gate-question.ts';
import { askJudges, type Ended, isLongJudgement, type JudgeDeps } from './judge-question.ts';
import { NOTHING_RECORDED, recordedVerdicts } from './recorded-verdicts.ts';
import type { Action, NodeReady } from './run-lookup.ts';
import { faultEvent, faultOf, unknownProtocol } from './verdicts.ts';

export const VALIDATOR_JUDGE = 'validator__judge';

export interface JudgeReaderDeps extends Omit<JudgeDeps, 'store'>, AnswerDeps {
  readonly modeOf: (scope: NodeReady['scope'], protocol: ProtocolRef) => Promise<ModeSpec>;
  readonly work: OwnedWork;
  /** Offers in hand at once; those with long work wait for a slot of their own. */
  readonly concurrency: number;
  readonly deadLetter: Reader['deadLetter'];
}

/** Reader `validator__judge`: judges every run that ended with a result, once. Other ends need no judgement. */
export const judgeReader = (deps: JudgeReaderDeps): Reader => ({
  name: VALIDATOR_JUDGE,
  types: READERS[VALIDATOR_JUDGE],
  mode: { kind: 'pool', concurrency: deps.concurrency },
  maxFailures: 5,
  handle: (offers, signal) => Promise.all(offers.map((offer) => handleOffer(deps, offer, signal))),
  deadLetter: deps.deadLetter,
});

const JUDGED: readonly Action['outcome'][] = ['satisfied', 'degraded'];

const handleOffer = async (deps: JudgeReaderDeps, offer: Offer, shutdown: AbortSignal): Promise<Verdict> => {
  try {
    const action = readEvent(offer.event, 'node_verified_action');
    if (!JUDGED.includes(action.outcome)) return DONE;
    const nodeReady = await nodeReadyBehind(deps.store, offer, action);
    if (nodeReady === null) return { verdict: 'failed', error: `no node_ready for ${action.task}#${action.run}` };
    const stream = gateStream(action.task, action.run);
    const expected = { state: 'passed', version: 1 } as const;
    const question: Question = { handler: VALIDATOR_JUDGE, stream, cause: offer.event, nodeReady, expected };
    return await judgeRun(deps, question, { action, run: readEvent(nodeReady, 'node_ready'), shutdown });
  } catch (error) {
    return verdictOf(error, offer.event);
  }
};

interface ToJudge {
  readonly action: Action;
  readonly run: NodeReady;
  readonly shutdown: AbortSignal;
}

const judgeRun = async (
  deps: JudgeReaderDeps,
  question: Question,
  { action, run, shutdown }: ToJudge,
): Promise<Verdict> => {
  const mode = await deps.modeOf(run.scope, run.protocol).catch(unknownProtocol);
  if ('detail' in mode) return giveJudgement(deps, question, faultEvent(run, 'judge', mode));
  const ended: Ended = { run, action, mode };
  return isLongJudgement(ended)
    ? judgeLong(deps, question, { ended, shutdown })
    : giveJudgement(deps, question, await judgementOf(deps, ended, { signal: NEVER, recorded: NOTHING_RECORDED }));
};

const giveJudgement = (deps: JudgeReaderDeps, question: Question, judgement: Judgement): Promise<Verdict> =>
  giveAnswer(deps, question, { type: 'judge_result', judgement });

/** Whatever goes wrong while validators are asked is an answer of its own: the run must not wait for ever. */
const judgementOf = (deps: JudgeReaderDeps, ended: Ended, how: Parameters<typeof askJudges>[2]): Promise<Judgement> =>
  askJudges(deps, ended, how).catch((error: unknown) => faultEvent(ended.run, 'judge', faultOf(error)));

const judgeLong = async (
  deps: JudgeReaderDeps,
  question: Question,
  { ended, shutdown }: { readonly ended: Ended; readonly shutdown: AbortSignal },
): Promise<Verdict> => {
  const { stream } = question;
  const work = { stream, phase: 'judge', root: ended.run.root, task: ended.run.task, run: ended.run.run };
  const result = await deps.work.run(work, shutdown, async (signal) => {
    if ((await deps.store.readStream(stream)).length > 1) return giveAgain(deps, question);
    const { cause } = question;
    const recorded = await recordedVerdicts(deps, { run: ended.run, phase: 'judge', cause, mostBytes: VERDICT_BYTES });
    const judgement = await judgementOf(deps, ended, { signal, recorded });
    return signal.aborted ? workVerdict(signal.reason) : giveJudgement(deps, question, judgement);
  });
  if (result.outcome === 'done') return result.result;
  return result.outcome === 'held' ? DONE : workVerdict(result.reason);
};

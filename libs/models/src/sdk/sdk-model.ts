import type { LanguageModel, LanguageModelUsage } from 'ai';
import type { ModelAccount } from '../model-account.ts';
import { ModelFault } from '../model-fault.ts';
import type { Price } from '../model-settings.ts';
import { affordableOutput, costOf, mostTokens } from './cost.ts';
import { providerFault } from './provider-faults.ts';

/** A model as configured, ready to be asked. */
export interface SdkModel {
  /** As tasks name it. */
  readonly name: string;
  readonly languageModel: LanguageModel;
  readonly price: Price;
  readonly timeoutMs: number;
  readonly maxOutputTokens: number;
}

export interface Within {
  readonly account: ModelAccount;
  readonly signal: AbortSignal;
}

/** What one call of the SDK is given beside its question. The SDK tries nothing again: waiting is decided elsewhere. */
export interface CallOptions {
  readonly maxOutputTokens: number;
  readonly maxRetries: 0;
  readonly abortSignal: AbortSignal;
}

/** What is left of the account does not pay for the question and a short answer. */
export class NotAffordable extends Error {
  override readonly name = 'NotAffordable';
}

/** Fewer tokens would be cut before they said anything. */
const LEAST_OUTPUT = 256;

/**
 * One call of a provider, bounded by the account and the model's time, and charged when it is answered.
 * @param question all that is sent, for its length.
 * @throws {ModelFault} {QuestionRefused} {NotAffordable} and the signal's reason once it is aborted.
 */
export const boundedCall = async <Answer>(
  model: SdkModel,
  { question, account, signal }: Within & { readonly question: string },
  call: (options: CallOptions) => Promise<{ readonly answer: Answer; readonly usage: LanguageModelUsage | undefined }>,
): Promise<Answer> => {
  signal.throwIfAborted();
  const input = mostTokens(Buffer.byteLength(question));
  const output = Math.min(model.maxOutputTokens, affordableOutput(account.left(), model.price, input));
  if (output < LEAST_OUTPUT) throw new NotAffordable('what is left of the budget does not pay for the question');
  const inTime = AbortSignal.timeout(model.timeoutMs);
  const options = { maxOutputTokens: output, maxRetries: 0, abortSignal: AbortSignal.any([signal, inTime]) } as const;
  try {
    const { answer, usage } = await call(options);
    account.charge(costOf(usage, model.price, { input, output }));
    return answer;
  } catch (error) {
    signal.throwIfAborted();
    throw inTime.aborted ? timedOut(model, error) : providerFault(error, model.name);
  }
};

const timedOut = ({ name, timeoutMs }: SdkModel, cause: unknown): ModelFault =>
  new ModelFault({ provider: name, faultClass: 'network', detail: `no answer within ${timeoutMs} ms`, cause });

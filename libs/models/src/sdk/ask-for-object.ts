import { generateText, type LanguageModelUsage, NoObjectGeneratedError, Output } from 'ai';
import type { z } from 'zod';
import { QuestionRefused } from './provider-faults.ts';
import { boundedCall, type CallOptions, NotAffordable, type SdkModel, type Within } from './sdk-model.ts';

export interface ObjectQuestion<Said> {
  readonly instructions: string;
  readonly prompt: string;
  readonly schema: z.ZodType<Said>;
}

/** `null`: it gave no answer that can be used, and why; `isGarbled`: twice in a shape that can not be read. */
export type ObjectAnswer<Said> =
  | { readonly said: Said }
  | { readonly said: null; readonly why: string; readonly isGarbled: boolean };

/**
 * One question, one answer of a shape; asked once more when the answer has not that shape. Stays inside the account.
 * @throws {ModelFault} when the provider fails; the signal's reason once it is aborted.
 */
export const askForObject = async <Said>(
  model: SdkModel,
  question: ObjectQuestion<Said>,
  within: Within,
): Promise<ObjectAnswer<Said>> => {
  try {
    const first = await askOnce(model, question, within);
    const said = first === GARBLED ? await askOnce(model, question, within) : first;
    return said === GARBLED ? GARBLED_TWICE : said;
  } catch (error) {
    if (error instanceof QuestionRefused || error instanceof NotAffordable)
      return { said: null, why: error.message, isGarbled: false };
    throw error;
  }
};

const GARBLED = Symbol('garbled');
const GARBLED_TWICE = {
  ...{ said: null, why: 'it answered twice in a shape that can not be read', isGarbled: true },
} as const;
const REFUSED = { said: null, why: 'it refused to answer', isGarbled: false } as const;

const askOnce = <Said>(
  model: SdkModel,
  question: ObjectQuestion<Said>,
  within: Within,
): Promise<ObjectAnswer<Said> | typeof GARBLED> =>
  boundedCall(model, { ...within, question: question.instructions + question.prompt }, (options) =>
    answerTo(model, question, options),
  );

interface Counted<Said> {
  readonly answer: ObjectAnswer<Said> | typeof GARBLED;
  readonly usage: LanguageModelUsage | undefined;
}

const answerTo = async <Said>(
  { languageModel: model }: SdkModel,
  { instructions, prompt, schema }: ObjectQuestion<Said>,
  options: CallOptions,
): Promise<Counted<Said>> => {
  try {
    const output = Output.object({ schema });
    const answer = await generateText({ model, instructions, prompt, output, ...options });
    const { usage, finishReason } = answer;
    if (finishReason === 'content-filter') return { answer: REFUSED, usage };
    return { answer: finishReason === 'stop' ? { said: answer.output } : GARBLED, usage };
  } catch (error) {
    if (!NoObjectGeneratedError.isInstance(error)) throw error;
    const { usage, finishReason } = error;
    return { answer: finishReason === 'content-filter' ? REFUSED : GARBLED, usage };
  }
};

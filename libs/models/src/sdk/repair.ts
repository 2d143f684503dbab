import { z } from 'zod';
import { ABOUT_FENCES, fenced } from '../fenced.ts';
import type { FailedCommand, OutputEnds, RepairModel } from '../models.ts';
import { askForObject } from './ask-for-object.ts';
import type { SdkModel } from './sdk-model.ts';

const answerSchema = z.object({
  /** Null: no better text comes to its mind. */
  corrected: z.string().max(48_000).nullable(),
  reasoning: z.string().max(4_000),
});

const INSTRUCTIONS = [
  'You correct one command or script of an automated step that did not reach its goal. You run nothing: your text is run in',
  'its place, in the same folder and language, and a check that you can not change decides whether the goal is reached.',
  'Correct what is wrong with the text. Never take away or weaken a check, never pass over a refusal, never make a failure',
  'look like success, and do nothing beside the goal.',
  'Answer with a JSON object: "corrected" is the whole corrected text, or null when you know of none; "reasoning" says why,',
  'in a sentence or two, for the people who read the log.',
  ABOUT_FENCES,
].join('\n');

/** A repair model that asks a language model; its answer is taken only in the shape that was asked for. */
export const sdkRepairModel = (model: SdkModel): RepairModel => ({
  name: model.name,
  propose: async (failed, account, signal) => {
    const question = { instructions: INSTRUCTIONS, prompt: promptOf(failed), schema: answerSchema };
    const answer = await askForObject(model, question, { account, signal });
    if (answer.said === null) return { kind: 'declined', reason: answer.why };
    const { corrected, reasoning } = answer.said;
    if (corrected === null || corrected.trim() === '')
      return { kind: 'declined', reason: reasoning || 'it knows of no better command' };
    if (failed.previous.includes(corrected) || corrected === failed.command)
      return { kind: 'declined', reason: 'it proposed what was run before' };
    return { kind: 'proposed', corrected, rule: model.name, reasoning: reasoning || 'it gave no reason' };
  },
});

const promptOf = (failed: FailedCommand): string =>
  [
    `Goal:\n${fenced('goal', failed.goal)}`,
    `Language: ${failed.language}. Attempt ${failed.attempt}. ${endOf(failed)}`,
    `The text as it was run last:\n${fenced('text', failed.command)}`,
    ...earlier(failed).map((text) => `Run before it, and not to be proposed again:\n${fenced('text', text)}`),
    ...printed('stdout', failed.stdout),
    ...printed('stderr', failed.stderr),
  ].join('\n\n');

const endOf = ({ timedOut, signal, exitCode }: FailedCommand): string => {
  if (timedOut) return 'It ran out of time.';
  return exitCode === null
    ? `It was ended by ${signal ?? 'nobody knows what'}.`
    : `It ended with exit code ${exitCode}.`;
};

const earlier = ({ previous, command }: FailedCommand): string[] => previous.filter((text) => text !== command);

/** What a command left on one of its streams. */
export const printed = (name: string, { head, tail }: OutputEnds): string[] => {
  if (head === '' && tail === '') return [];
  if (head === tail) return [`What it printed:\n${fenced(name, head)}`];
  return [`Start of what it printed:\n${fenced(name, head)}`, `End of it:\n${fenced(name, tail)}`];
};

import type { Money } from '@fixpoint/contracts/events/budget-events';
import type { LanguageModelUsage } from 'ai';
import type { Price } from '../model-settings.ts';

const MILLION = 1_000_000;

/** No token is shorter than a byte, and what servers put around a message is short. */
const AROUND_A_QUESTION = 1_000;

/** A question of so many bytes has no more tokens than this. */
export const mostTokens = (bytes: number): number => bytes + AROUND_A_QUESTION;

/** Most tokens of an answer that what is left can pay for, the question at its longest paid first; below 0: not even that. */
export const affordableOutput = (left: Money, price: Price, inputTokens: number): number => {
  const moneyLeft = left.money_micros * MILLION - inputTokens * price.input;
  const byMoney = price.output === 0 ? (moneyLeft < 0 ? -1 : Infinity) : Math.floor(moneyLeft / price.output);
  return Math.min(left.tokens - inputTokens, byMoney);
};

/** @param atMost taken for what the server does not count. */
export const costOf = (
  usage: LanguageModelUsage | undefined,
  price: Price,
  atMost: { readonly input: number; readonly output: number },
): Money => {
  const input = usage?.inputTokens ?? atMost.input;
  const output = usage?.outputTokens ?? atMost.output;
  const cached = Math.min(input, usage?.inputTokenDetails.cacheReadTokens ?? 0);
  const micros = (input - cached) * price.input + cached * (price.cached_input ?? price.input) + output * price.output;
  return { money_micros: Math.ceil(micros / MILLION), tokens: input + output };
};

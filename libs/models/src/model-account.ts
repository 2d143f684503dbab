import type { Money } from '@fixpoint/contracts/events/budget-events';

/** What the models of one run may use up, and have. Charged as it is spent, so that a call that fails later has paid too. */
export interface ModelAccount {
  left(): Money;
  charge(spent: Money): void;
  spent(): Money;
}

/** @param allowance what all calls together may use up. */
export const modelAccount = (allowance: Money): ModelAccount => {
  let [money_micros, tokens] = [0, 0];
  return {
    left: () => ({
      money_micros: Math.max(0, allowance.money_micros - money_micros),
      tokens: Math.max(0, allowance.tokens - tokens),
    }),
    charge: (spent) => {
      money_micros += spent.money_micros;
      tokens += spent.tokens;
    },
    spent: () => ({ money_micros, tokens }),
  };
};

import type { Bounds } from '@fixpoint/contracts/documents/protocol';
import type { Money } from '@fixpoint/contracts/events/budget-events';

/** Money and tokens of the lineage, and what humans gave beyond the mode's bounds. */
export interface Budget {
  /** Reported. */
  readonly spent: Money;
  /** For what has started and was not accounted for, under way or given up; by what it is for. */
  readonly reserved: Readonly<Record<string, Money>>;
  /** Something did not fit: nothing new starts until there is more. */
  readonly exceeded: boolean;
  /** Of what the lineage shares. */
  readonly extended: Partial<Bounds>;
  /** Of what each unit has for itself. */
  readonly extendedUnits: Readonly<Record<string, Partial<Bounds>>>;
}

export const FRESH_BUDGET: Budget = {
  spent: { money_micros: 0, tokens: 0 },
  reserved: {},
  exceeded: false,
  extended: {},
  extendedUnits: {},
};

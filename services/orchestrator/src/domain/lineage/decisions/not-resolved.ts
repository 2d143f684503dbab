import type { Verdict } from '@fixpoint/contracts/verdict';
import { handOff, NO_FINDINGS } from '../handoff.ts';
import type { Turn } from '../lookup.ts';
import type { Facts, Task } from '../state.ts';

interface Found {
  readonly run: number;
  readonly detail: string;
  readonly verdicts: readonly Verdict[];
}

/** Many a check says no word: it exits. */
const SILENT = 'it was said to be done, and its check does not hold';

/** A human said that it was done, and it is not: back to a human with what was found, without repairs or a council. */
export const notResolved = (turn: Turn, unitTask: Task, { run, detail, verdicts }: Found): Facts =>
  handOff(turn, unitTask, {
    ...NO_FINDINGS,
    ...{ haltType: 'unmet', rawHaltType: 'not_resolved', help: 'cannot_act' },
    ...{ detail: detail || SILENT, verdicts, run },
  });

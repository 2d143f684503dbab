import type { Verdict } from '@fixpoint/contracts/verdict';
import { handOff, NO_FINDINGS } from '../handoff.ts';
import type { Turn } from '../lookup.ts';
import type { Facts, Task } from '../state.ts';

interface Found {
  readonly run: number;
  readonly detail: string;
  readonly verdicts: readonly Verdict[];
}

/** A human said that it was done, and it is not: back to a human with what was found, without repairs or a council. */
export const notResolved = (turn: Turn, unitTask: Task, { run, detail, verdicts }: Found): Facts =>
  handOff(turn, unitTask, {
    ...NO_FINDINGS,
    ...{ haltType: 'unmet', rawHaltType: 'not_resolved', help: 'cannot_act' },
    ...{ detail, verdicts, run },
  });

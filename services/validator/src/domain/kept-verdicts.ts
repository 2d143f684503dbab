import type { EventNamed } from '@fixpoint/contracts/events/catalogue';
import type { Verdict } from '@fixpoint/contracts/verdict';
import type { Decider } from '@fixpoint/decider/decider';

type VerdictRecorded = EventNamed<'verdict_recorded'>;

export interface KeepVerdict {
  readonly type: 'keep_verdict';
  readonly data: VerdictRecorded['data'];
}

/** By phase and validator; the first answer stands. */
export type KeptVerdicts = Readonly<Record<string, Verdict>>;

export const keyOf = (phase: VerdictRecorded['data']['phase'], validator: string): string => `${phase} ${validator}`;

const placeOf = ({ phase, verdict }: VerdictRecorded['data']): string => keyOf(phase, verdict.validator);

/** Stream `verdicts-<task>-<run>`: what single validators said before all of them had been asked. */
export const keptVerdicts: Decider<KeepVerdict, VerdictRecorded, KeptVerdicts> = {
  initial: {},
  decide: ({ data }, kept) => (placeOf(data) in kept ? [] : [{ type: 'verdict_recorded', data }]),
  evolve: (kept, event) =>
    event.type === 'verdict_recorded' && !(placeOf(event.data) in kept)
      ? { ...kept, [placeOf(event.data)]: event.data.verdict }
      : kept,
};

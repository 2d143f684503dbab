import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import type { EventNamed } from '@fixpoint/contracts/events/catalogue';
import type { Verdict } from '@fixpoint/contracts/verdict';

type Events = readonly RecordedEvent[];
type Judged = EventNamed<'post_validated'>['data'] | EventNamed<'governance_passed'>['data'];

/** Answers that let work go on. */
const GOES_ON = ['proceed', 'proceed_with_log', 'recover'];

const goneOn = (events: Events): readonly Judged[] =>
  events
    .filter(({ type }) => type === 'post_validated' || type === 'governance_passed')
    .map(({ data }) => data as Judged)
    .filter(({ outcome }) => GOES_ON.includes(outcome));

const naming = (judged: readonly Judged[], isBad: (verdict: Verdict) => boolean): readonly string[] =>
  judged.filter(({ verdicts }) => verdicts.some(isBad)).map(({ task, run, outcome }) => `${task}#${run}: ${outcome}`);

/** Rules about what was said of runs, whoever may have decided on it since. */
export const verdictRules: readonly {
  readonly name: string;
  readonly broken: (events: Events) => readonly string[];
}[] = [
  {
    name: 'INV3 a blocker that may not be overridden halts, whatever else was said and whoever decides',
    broken: (events) => naming(goneOn(events), ({ severity, overridable }) => severity === 'blocker' && !overridable),
  },
  {
    name: 'a cap never hides an error: an answer that can not be used halts',
    broken: (events) => naming(goneOn(events), ({ error }) => error),
  },
];

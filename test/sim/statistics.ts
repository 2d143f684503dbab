import type { Simulated } from './simulate.ts';

/** What many worlds were made of. */
export interface Statistics {
  seeds: number;
  events: number;
  /** How often each kind of thing out of the ordinary happened. */
  readonly kinds: Record<string, number>;
  readonly types: Record<string, number>;
  /** Seeds that broke a rule, with the first that they broke. */
  readonly failures: { readonly seed: number; readonly broken: string }[];
}

export const noStatistics = (): Statistics => ({ seeds: 0, events: 0, kinds: {}, types: {}, failures: [] });

const count = (counts: Record<string, number>, name: string, more = 1): void => {
  counts[name] = (counts[name] ?? 0) + more;
};

/** Kinds of one word each; parts of documents and their shape are no faults. */
const kindOf = (key: string): string => key.slice(0, key.indexOf(' '));

export const note = (statistics: Statistics, { seed, events, taken, broken }: Simulated): void => {
  statistics.seeds += 1;
  statistics.events += events.length;
  for (const { type } of events) count(statistics.types, type);
  for (const key of taken) count(statistics.kinds, kindOf(key));
  const [first] = broken;
  if (first !== undefined) statistics.failures.push({ seed, broken: first });
};

export const merged = (all: readonly Statistics[]): Statistics => {
  const sum = noStatistics();
  for (const each of all) {
    sum.seeds += each.seeds;
    sum.events += each.events;
    for (const [name, more] of Object.entries(each.kinds)) count(sum.kinds, name, more);
    for (const [name, more] of Object.entries(each.types)) count(sum.types, name, more);
    sum.failures.push(...each.failures);
  }
  return sum;
};

const table = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .sort(([, a], [, b]) => b - a)
    .map(([name, times]) => `  ${String(times).padStart(9)}  ${name}`)
    .join('\n');

export const reportOf = ({ seeds, events, kinds, types, failures }: Statistics): string =>
  [
    `${seeds} worlds, ${events} events, ${failures.length} worlds that break a rule`,
    `what happened out of the ordinary:\n${table(kinds)}`,
    `events:\n${table(types)}`,
    ...failures.map(({ seed, broken }) => `seed ${seed}: ${broken.slice(0, 300)}`),
  ].join('\n');

import type { Simulated } from './simulate.ts';

/** The name of a broken rule, without what of the world breaks it. */
const ruleOf = (broken: string): string => broken.slice(0, broken.indexOf(':'));

/** Tries of smaller worlds; each costs as much as a seed. */
const MOST_TRIES = 400;

export interface Shrunk {
  readonly smallest: Simulated;
  readonly tries: number;
}

/**
 * The smallest world found that breaks the same rule: delta debugging over what happened out of the ordinary, faults and
 * documents alike. Everything that is left is needed, as long as the tries lasted.
 */
export const shrink = async (
  failing: Simulated,
  play: (only: ReadonlySet<string>) => Promise<Simulated>,
): Promise<Shrunk> => {
  const rule = ruleOf(failing.broken[0] ?? '');
  let smallest = failing;
  let tries = 0;

  const stillBreaks = async (keys: readonly string[]): Promise<boolean> => {
    tries += 1;
    const played = await play(new Set(keys));
    if (!played.broken.some((what) => ruleOf(what) === rule)) return false;
    smallest = played;
    return true;
  };

  /** Without one of so many parts, until none can be left out. */
  const leaveOut = async (parts: number): Promise<void> => {
    const keys = smallest.taken;
    const size = Math.ceil(keys.length / parts);
    for (let from = 0; from < keys.length && tries < MOST_TRIES; from += size) {
      const rest = [...keys.slice(0, from), ...keys.slice(from + size)];
      if (await stillBreaks(rest)) return leaveOut(Math.max(2, parts - 1));
    }
    if (size > 1 && tries < MOST_TRIES) return leaveOut(Math.min(keys.length, parts * 2));
  };

  if (!(await stillBreaks([]))) await leaveOut(2);
  return { smallest, tries };
};

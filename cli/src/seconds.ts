import { InvalidArgumentError } from 'commander';

/** Timers of Node take no more (24 days). */
const LONGEST_MS = 2_000_000_000;

/** Milliseconds of an option in seconds; as long as it takes where none is given. @throws {InvalidArgumentError} */
export const secondsToWait = (text?: string): number => {
  if (text === undefined) return LONGEST_MS;
  const seconds = Number(text);
  if (text.trim() === '' || !(seconds > 0)) throw new InvalidArgumentError('it takes a number of seconds above 0.');
  return Math.min(Math.ceil(seconds * 1000), LONGEST_MS);
};

import type { Clock } from '@fixpoint/contracts/clock';
import type { Choices } from './choices.ts';

/** How long the host of all repositories is dead from the start. The longest outlasts the pauses that end by themselves. */
const DEAD_MS = [0, 3 * 60_000, 12 * 60_000, 42 * 60_000] as const;

/** Which of the storms there is in this world; 0: none. */
const stormOf = (choices: Choices): number =>
  choices.pick('dead_host', 'from the start', { share: 0.1, options: DEAD_MS.length - 1 });

/** With a dead host its lineages are what the world is about: all of them begin there. */
export const isStormy = (choices: Choices): boolean => stormOf(choices) > 0;

/** Whether the host is dead just now; everybody is told as soon as all is calm that it is not. */
export const deadHost = (choices: Choices, clock: Pick<Clock, 'monotonicMs'>): (() => boolean) => {
  const deadMs = DEAD_MS[stormOf(choices)] ?? 0;
  return () => !choices.isCalm() && clock.monotonicMs() < deadMs;
};

import type { Publication } from '@fixpoint/messaging/bus';
import type { DeliveryPolicy } from '@fixpoint/messaging/delivery-policy';
import type { Route } from './held-bus.ts';

/** Numbers from 0 up to 1, the same for the same seed (mulberry32). */
const randomNumbers = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

/** An event that is lost more often is given up as unanswered: another story, with other decisions. */
const MOST_LOSSES = 2;
const LONGEST_DELAY_MS = 45_000;

/** Messages are lost, repeated, put off and taken in any order, as a seed says. */
export const randomRoute = (seed: number): { readonly route: Route; readonly policy: DeliveryPolicy } => {
  const random = randomNumbers(seed);
  const losses = new Map<string, number>();
  const pick = (count: number): number => Math.floor(random() * count);

  const lose = ({ offer }: Publication): boolean => {
    const lost = losses.get(offer.event.id) ?? 0;
    if (lost === MOST_LOSSES) return false;
    losses.set(offer.event.id, lost + 1);
    return true;
  };

  return {
    route: {
      next: (waiting) => pick(waiting.length),
      fate: (publication) => {
        const chance = random();
        if (chance < 0.2 && lose(publication)) return { copies: 0 };
        if (chance < 0.4) return { laterMs: pick(LONGEST_DELAY_MS) };
        return { copies: chance < 0.7 ? 2 : 1 };
      },
    },
    policy: { copies: () => 1, pick },
  };
};

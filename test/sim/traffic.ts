import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import type { Publication } from '@fixpoint/messaging/bus';
import type { Fate, Route } from '../world/held-bus.ts';
import type { Choices } from './choices.ts';

/** What an event is about, in words that are the same in every run of a seed. */
const nameOfEvent = ({ type, stream, version }: Pick<RecordedEvent, 'type' | 'stream' | 'version'>): string =>
  `${type} ${stream}@${version}`;

const LONGEST_DELAY_MS = 300_000;
/** Steps of delay that are told apart. */
const DELAYS = 64;

/** What becomes of messages: lost, repeated, put off, overtaken, as the seed says. */
export const traffic = (choices: Choices): Route => {
  const seen = new Map<string, number>();

  /** The same event is published more than once: each time for itself. */
  const passage = ({ offer: { event } }: Publication): string => {
    const name = nameOfEvent(event);
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return count === 1 ? name : `${name} (${count})`;
  };

  return {
    next: (waiting) => {
      if (waiting.length === 1 || choices.isCalm()) return 0;
      const overtaking = waiting.findIndex(
        ({ offer: { event } }, index) => index > 0 && choices.happens('overtakes', nameOfEvent(event), 0.1),
      );
      return Math.max(0, overtaking);
    },
    fate: (publication): Fate => {
      const key = passage(publication);
      if (choices.happens('lost', key, 0.05)) return { copies: 0 };
      const delay = choices.pick('late', key, { share: 0.06, options: DELAYS });
      // Most delays are short: the longest outlast several looks of the healer.
      if (delay > 0) return { laterMs: Math.ceil(LONGEST_DELAY_MS * (delay / DELAYS) ** 3) };
      return { copies: choices.happens('repeated', key, 0.08) ? 2 : 1 };
    },
  };
};

import type { Offer, Reader, Verdict } from '@fixpoint/messaging/bus';
import type { Choices } from './choices.ts';

/** The reason of dead letters that nothing but the seed is to blame for. */
export const INDIGESTIBLE = 'indigestible, as the seed says';

const CERTAIN = 2;

const refused = (option: number): Verdict => ({ verdict: 'failed', error: INDIGESTIBLE, isFinal: option === CERTAIN });

/**
 * A reader that fails on some messages whenever they are offered, at once for good or once more each time, until all is
 * calm. That a message was given up is itself always read.
 */
export const shakyReader = (choices: Choices, inner: Reader): Reader => {
  const optionFor = ({ event: { type, stream, version } }: Offer): number => {
    if (type === 'dead_lettered') return 0;
    const key = `${inner.name} ${type} ${stream}@${version}`;
    return choices.pick('indigestible', key, { share: 0.004, options: CERTAIN });
  };
  return {
    ...inner,
    handle: async (offers, signal) => {
      const options = offers.map(optionFor);
      const digestible = offers.filter((_, index) => options[index] === 0);
      const answers = [...(digestible.length === 0 ? [] : await inner.handle(digestible, signal))];
      return options.map((option) => {
        if (option > 0) return refused(option);
        const answer = answers.shift();
        if (answer === undefined) throw new Error(`${inner.name} answered too few offers`);
        return answer;
      });
    },
  };
};

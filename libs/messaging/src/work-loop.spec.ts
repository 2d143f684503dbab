import { describe, expect, test } from '@jest/globals';
import type { Offer, Verdict } from './bus.ts';
import { memoryBus } from './memory-bus.ts';
import { aReader, done, manualClock, publication, turn } from './messaging.fixture.ts';

const idOf = ({ event }: Offer): string => event.id;

/** A handler with a bug that one event brings to light. */
const startWith = async (mode: { kind: 'batch'; max: number } | { kind: 'pool'; concurrency: number }) => {
  const clock = manualClock();
  const bus = memoryBus({ clock, report: () => undefined });
  const handled: string[] = [];
  const dead: string[] = [];
  await bus.subscribe({
    ...aReader({ name: 'svc__reader' }),
    mode,
    maxFailures: 2,
    handle: async (offers): Promise<readonly Verdict[]> => {
      if (offers.some((offer) => idOf(offer) === 'poison')) throw new TypeError('x is not a function');
      handled.push(...offers.map(idOf));
      return offers.map(() => done);
    },
    deadLetter: async (offer) => void dead.push(idOf(offer)),
  });
  return { clock, bus, handled, dead };
};

describe.each([
  ['a batch', { kind: 'batch', max: 10 } as const],
  ['a pool', { kind: 'pool', concurrency: 4 } as const],
])('a bug in the handler of %s', (_, mode) => {
  test('F7 holds up nobody but the event that brings it out, which becomes a dead letter', async () => {
    const { clock, bus, handled, dead } = await startWith(mode);
    await bus.publish(['a', 'poison', 'b'].map((id) => publication('thing_done', id)));
    await turn();
    expect([...handled].sort()).toEqual(['a', 'b']);
    await bus.publish([publication('thing_done', 'c')]);
    await turn();
    expect(handled).toContain('c');
    await clock.advance(1_000);
    await turn();
    expect(dead).toEqual(['poison']);
    expect(handled.filter((id) => id === 'a')).toEqual(['a']);
  });
});

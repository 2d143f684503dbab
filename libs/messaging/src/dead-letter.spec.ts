import { given } from '@fixpoint/decider/given';
import { Refused } from '@fixpoint/decider/refused';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type DeadLetterCommand, type DeadLetterEvent, deadLetter } from './dead-letter.ts';

const LETTER = 'validator-1';

const data = {
  ...{ service: 'validator', reader: 'validator__gate', event_id: 'e1', event_type: 'node_ready', event_version: 9 },
  ...{ root: 'r1', task: 'r1', run: 1, deliveries: 5, reason: 'event_version_unknown' },
};
const ref = {
  ...{ letter: LETTER, service: 'validator', reader: 'validator__gate', event_id: 'e1', event_type: 'node_ready' },
  ...{ root: 'r1', task: 'r1', run: 1, deliveries: 5 },
};

const park = (deliveries = 5): DeadLetterCommand => ({ type: 'park_dead_letter', given: { ...data, deliveries } });
const replay = (again = false): DeadLetterCommand => ({ type: 'replay_dead_letter', letter: LETTER, again });
const discard: DeadLetterCommand = { type: 'discard_dead_letter', letter: LETTER, reason: 'not needed' };

const parked = (deliveries = 5): DeadLetterEvent => ({ type: 'dead_lettered', data: { ...data, deliveries } });
const replayed = (replays: number, deliveries = 5): DeadLetterEvent => ({
  type: 'dead_letter_replayed',
  data: { ...ref, deliveries, replays },
});
const discarded: DeadLetterEvent = { type: 'dead_letter_discarded', data: { ...ref, reason: 'not needed' } };

/** What a history and a command come to; a refusal is nothing. */
const decided = (history: readonly DeadLetterEvent[], command: DeadLetterCommand): readonly DeadLetterEvent[] => {
  try {
    return deadLetter.decide(command, history.reduce(deadLetter.evolve, deadLetter.initial));
  } catch (error) {
    if (error instanceof Refused) return [];
    throw error;
  }
};

describe('a dead letter', () => {
  describe('when unknown', () => {
    test('is parked', () => given(deadLetter).when(park()).then(parked()));
    test('can not be replayed', () => given(deadLetter).when(replay()).thenRefused('dead_letter_unknown'));
    test('can not be discarded', () => given(deadLetter).when(discard).thenRefused('dead_letter_unknown'));
  });

  describe('when parked', () => {
    test('F5: is not parked a second time', () => given(deadLetter, parked()).when(park()).thenNothing());
    test('is replayed', () => given(deadLetter, parked()).when(replay()).then(replayed(1)));
    test('is discarded', () => given(deadLetter, parked()).when(discard).then(discarded));
  });

  describe('when replayed', () => {
    const history = [parked(), replayed(1)];
    test('F5: is not replayed by a second operator', () =>
      given(deadLetter, ...history)
        .when(replay())
        .thenNothing());
    test('is replayed again where that is asked for', () =>
      given(deadLetter, ...history)
        .when(replay(true))
        .then(replayed(2)));
    test('F6: comes back once when the event is still bad, with all its deliveries', () => {
      given(deadLetter, ...history)
        .when(park(6))
        .then(parked(6));
      given(deadLetter, ...history, parked(6))
        .when(park(6))
        .thenNothing();
    });
    test('F6: never counts fewer deliveries than before', () =>
      given(deadLetter, ...history, parked(6), replayed(2, 6))
        .when(park(5))
        .then(parked(6)));
    test('is discarded', () =>
      given(deadLetter, ...history)
        .when(discard)
        .then(discarded));
  });

  describe('when discarded', () => {
    const history = [parked(), discarded];
    test('is not parked again: its reader goes on without it', () =>
      given(deadLetter, ...history)
        .when(park())
        .thenNothing());
    test('can not be replayed', () =>
      given(deadLetter, ...history)
        .when(replay(true))
        .thenRefused('dead_letter_discarded'));
    test('is not discarded a second time', () =>
      given(deadLetter, ...history)
        .when(discard)
        .thenNothing());
  });

  test('any command but one that insists, sent again, changes nothing', () => {
    const commands = fc.constantFrom<DeadLetterCommand>(park(5), park(6), replay(), discard);
    const run = (script: readonly DeadLetterCommand[]): readonly DeadLetterEvent[] => {
      const events: DeadLetterEvent[] = [];
      for (const command of script) events.push(...decided(events, command));
      return events;
    };
    fc.assert(
      fc.property(fc.array(commands, { maxLength: 8 }), commands, (script, command) => {
        expect(run([...script, command, command])).toEqual(run([...script, command]));
      }),
    );
  });
});

import { deepStrictEqual, throws } from 'node:assert';
import { type Decider, fold } from './decider.ts';
import { Refused } from './refused.ts';

/** A decider's specification as a sentence: given a history, when a command comes, then these facts. */
export const given = <Command, Event, State>(
  decider: Decider<Command, Event, State>,
  ...history: readonly Event[]
) => ({
  when: (command: Command) => {
    const outcome = () => decider.decide(command, fold(decider, decider.initial, history));
    return {
      then: (...expected: readonly Event[]): void => deepStrictEqual([...outcome()], [...expected]),
      thenNothing: (): void => deepStrictEqual([...outcome()], []),
      thenRefused: (code: string): void =>
        throws(outcome, (error: unknown) => error instanceof Refused && error.code === code),
    };
  },
});

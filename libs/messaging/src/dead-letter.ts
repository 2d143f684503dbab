import type { EventNamed } from '@fixpoint/contracts/events/catalogue';
import type { Decider } from '@fixpoint/decider/decider';
import { Refused } from '@fixpoint/decider/refused';

type GivenUp = EventNamed<'dead_lettered'>['data'];

/** A reader gave the event up, for the first time or again. */
export interface ParkDeadLetter {
  readonly type: 'park_dead_letter';
  readonly given: GivenUp;
}

/** Somebody wants it offered to its reader once more. */
export interface ReplayDeadLetter {
  readonly type: 'replay_dead_letter';
  readonly letter: string;
  /** Also when it was replayed already and has not come back: for a replay whose message was lost. */
  readonly again: boolean;
}

/** Somebody decided that its reader goes on without it. */
export interface DiscardDeadLetter {
  readonly type: 'discard_dead_letter';
  readonly letter: string;
  readonly reason: string;
}

export type DeadLetterCommand = ParkDeadLetter | ReplayDeadLetter | DiscardDeadLetter;
export type DeadLetterEvent = EventNamed<'dead_lettered' | 'dead_letter_replayed' | 'dead_letter_discarded'>;

export type DeadLetter =
  | { readonly status: 'unknown' }
  | {
      /** `replayed`: it is with its reader again, and has not come back. */
      readonly status: 'parked' | 'replayed' | 'discarded';
      readonly given: GivenUp;
      /** Failed deliveries; never falls. */
      readonly deliveries: number;
      readonly replays: number;
    };

type Known = Exclude<DeadLetter, { status: 'unknown' }>;

const evolve = (state: DeadLetter, event: DeadLetterEvent): DeadLetter => {
  switch (event.type) {
    case 'dead_lettered':
      return {
        status: 'parked',
        given: event.data,
        deliveries: event.data.deliveries,
        replays: state.status === 'unknown' ? 0 : state.replays,
      };
    case 'dead_letter_replayed':
      return state.status === 'unknown' ? state : { ...state, status: 'replayed', replays: event.data.replays };
    case 'dead_letter_discarded':
      return state.status === 'unknown' ? state : { ...state, status: 'discarded' };
    default:
      return state;
  }
};

const park = ({ given }: ParkDeadLetter, state: DeadLetter): DeadLetterEvent[] => {
  if (state.status === 'parked' || state.status === 'discarded') return [];
  const before = state.status === 'unknown' ? 0 : state.deliveries;
  return [{ type: 'dead_lettered', data: { ...given, deliveries: Math.max(before, given.deliveries) } }];
};

const replay = ({ letter, again }: ReplayDeadLetter, state: Known): DeadLetterEvent[] => {
  if (state.status === 'discarded') throw new Refused('dead_letter_discarded', `${letter} was discarded`);
  if (state.status === 'replayed' && !again) return [];
  return [{ type: 'dead_letter_replayed', data: { ...refOf(letter, state), replays: state.replays + 1 } }];
};

const discard = ({ letter, reason }: DiscardDeadLetter, state: Known): DeadLetterEvent[] =>
  state.status === 'discarded' ? [] : [{ type: 'dead_letter_discarded', data: { ...refOf(letter, state), reason } }];

const refOf = (letter: string, { given, deliveries }: Known) => {
  const { service, reader, event_id, event_type, root, task, run } = given;
  return { letter, service, reader, event_id, event_type, root, task, run, deliveries };
};

const decide = (command: DeadLetterCommand, state: DeadLetter): DeadLetterEvent[] => {
  if (command.type === 'park_dead_letter') return park(command, state);
  if (state.status === 'unknown') throw new Refused('dead_letter_unknown', command.letter);
  return command.type === 'replay_dead_letter' ? replay(command, state) : discard(command, state);
};

/** Stream `dead-{letter}`: one event that one reader gave up, and what people did about it. */
export const deadLetter: Decider<DeadLetterCommand, DeadLetterEvent, DeadLetter> = {
  initial: { status: 'unknown' },
  decide,
  evolve,
};

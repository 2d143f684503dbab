import type { DeadLetter, EndDeadLetter } from './commands.ts';
import { handOff, NO_FINDINGS, withdrawal } from './handoff.ts';
import { letterKey } from './letter-key.ts';
import { isBusy, refOf, type Turn, taskOf, unitOf, waitsForTimer } from './lookup.ts';
import type { Facts, Handoff, HandoffCause, Task } from './state.ts';
import { isLive } from './tree.ts';

const RAW_HALT_TYPE = 'dead_letter';

type Named = EndDeadLetter['letter'];

/** Nobody could read or handle an event of this lineage: a human is told, and an answer that still comes is taken. */
export const deadLetter = (command: DeadLetter, turn: Turn): Facts => {
  const { letter } = command;
  const root = taskOf(turn.state, turn.state.root);
  if (!isLive(root) || turn.state.letters.includes(letterKey(letter))) return [];
  const named = letter.task === null ? undefined : turn.state.tasks[letter.task];
  const slice = named !== undefined && isLive(named) ? named : root;
  if (isTold(turn, slice, `${begin(letter)}${slice.id}, `)) return [];
  const detail = `${begin(letter)}${slice.id}, ${about(letter)}${letter.reason}`;
  const { reader, event_id, deliveries } = letter;
  const cause = { haltType: 'internal_error', rawHaltType: RAW_HALT_TYPE, help: 'infrastructure', detail } as const;
  const told = { ...cause, letter: { reader, event_id, deliveries } };
  return handOff(turn, slice, { ...NO_FINDINGS, ...told, runOpen: goesOn(turn), run: letter.run });
};

const begin = ({ reader, event_type }: Named): string => `${reader} gave up ${event_type} of `;
const about = ({ event_id }: Named): string => `event ${event_id}: `;

const goesOn = ({ state }: Turn): boolean => isBusy(state) || waitsForTimer(state);

/** The event of every new run would be given up by the same reader for the same reason; a human needs to hear it once. */
const isTold = (turn: Turn, slice: Task, what: string): boolean =>
  unitOf(turn.state, slice).handoff?.causes.some(
    ({ rawHaltType, detail }) => rawHaltType === RAW_HALT_TYPE && detail.startsWith(what),
  ) ?? false;

/**
 * The letter was replayed or discarded: a handoff that was open for nothing else is withdrawn, another loses this cause.
 * Where nothing would go on without a human, the human keeps it.
 */
export const endDeadLetter = ({ letter, ended }: EndDeadLetter, turn: Turn): Facts =>
  Object.entries(turn.state.units).flatMap(([unit, { handoff }]) => {
    const cause = handoff?.causes.find((each) => isAbout(each, letter));
    if (!handoff || !cause || !goesOn(turn)) return [];
    const task = taskOf(turn.state, unit);
    return handoff.causes.length === 1
      ? withdrawal(turn, task, ended)
      : [causeEnded(turn, task, { handoff, cause, ended })];
  });

const isAbout = ({ rawHaltType, detail }: HandoffCause, letter: Named): boolean =>
  rawHaltType === RAW_HALT_TYPE && detail.startsWith(begin(letter)) && detail.includes(`, ${about(letter)}`);

interface Ending {
  readonly handoff: Handoff;
  readonly cause: HandoffCause;
  readonly ended: string;
}

const causeEnded = ({ state }: Turn, task: Task, { handoff, cause, ended }: Ending): Facts[number] => ({
  type: 'handoff_cause_ended',
  data: {
    ...refOf(state, task),
    handoff: handoff.id,
    raw_halt_type: cause.rawHaltType,
    detail: cause.detail,
    reason: ended,
  },
});

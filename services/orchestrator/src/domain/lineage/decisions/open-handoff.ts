import { handoffNumber } from '@fixpoint/contracts/addresses';
import { Refused } from '@fixpoint/decider/refused';
import { type Turn, taskOf } from '../lookup.ts';
import type { Handoff, Task } from '../state.ts';

interface Asked {
  readonly handoff: string;
  readonly version: number;
  readonly actor: string;
}

interface Open {
  readonly unitTask: Task;
  readonly handoff: Handoff;
}

/**
 * The handoff as whoever asks has seen it; null when it is not open.
 * @throws {Refused} when it has moved on since, or somebody else looks after it.
 */
export const openHandoff = (turn: Turn, { handoff: id, version, actor }: Asked): Open | null => {
  const found = Object.entries(turn.state.units).find(([, unit]) => unit.handoff?.id === id);
  const handoff = found?.[1].handoff;
  if (!found || !handoff) return null;
  if (handoff.version !== version) {
    throw new Refused('handoff_version_conflict', `${id} is at version ${handoff.version}, not ${version}`);
  }
  const { claim } = handoff;
  if (claim !== null && claim.by !== actor && Date.parse(claim.until) > Date.parse(turn.now)) {
    throw new Refused('handoff_claimed', `${claim.by} looks after ${id} until ${claim.until}`);
  }
  return { unitTask: taskOf(turn.state, found[0]), handoff };
};

/** @throws {Refused} always: it is over, or there never was such a handoff. */
export const closedOr = ({ state }: Turn, id: string): never => {
  const unit = id.replace(/\.h\d+$/, '');
  const number = handoffNumber(id);
  const opened = state.units[unit]?.handoffs ?? 0;
  if (number < 1 || number > opened) throw new Refused('handoff_unknown', id);
  throw new Refused('handoff_closed', `${id} is over`);
};

import { handOff, NO_FINDINGS } from '../handoff.ts';
import { followedBy, type Turn, taskOf } from '../lookup.ts';
import type { Epic, Facts, Task } from '../state.ts';
import { epicOfChild, holds, isLive } from '../tree.ts';

export const EPIC_HELD = 'epic_held';

/** A child that ended otherwise than done holds its epic: only a human may say that it closes without it. */
export const holdEpic = (turn: Turn, ended: Task): Facts => {
  const epic = epicOfChild(turn.state, ended);
  const parent = epic === null ? null : taskOf(turn.state, epic.task);
  if (parent === null || !isLive(parent)) return [];
  const { status } = taskOf(turn.state, ended.id);
  return handOff(turn, parent, {
    ...{
      ...NO_FINDINGS,
      haltType: 'unmet',
      rawHaltType: EPIC_HELD,
      help: 'choice',
      stage: 'held',
      run: null,
      runOpen: true,
    },
    detail: `child ${ended.address} is ${status}: what it was to do is not done`,
  });
};

/** Children that still hold their epic are asked about again: a decision on another one, or on another cause, changed none. */
export const askAboutHeld = (turn: Turn, id: string): Facts => {
  const held = Object.values(turn.state.epics)
    .filter((epic) => epic.task === id && !epic.closed)
    .flatMap(({ children }) => children.filter((child) => holds(turn.state, child)));
  return held.reduce<Facts>(
    (facts, { task }) => followedBy(turn, facts, (later) => holdEpic(later, taskOf(later.state, task))),
    [],
  );
};

/** With no child left whose work counts there is nothing to put together: never an empty recompose. */
export const askAboutEmpty = (turn: Turn, unitTask: Task, epic: Epic): Facts =>
  handOff(turn, unitTask, {
    ...{
      ...NO_FINDINGS,
      haltType: 'unmet',
      rawHaltType: 'epic_empty',
      help: 'choice',
      stage: 'held',
      run: null,
      runOpen: true,
    },
    detail: `all ${epic.children.length} children were excluded`,
  });

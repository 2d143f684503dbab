import type { EventNamed, LineageEvent } from '@fixpoint/contracts/events/catalogue';
import type { Decision } from '@fixpoint/contracts/human-decision';
import { Refused } from '@fixpoint/decider/refused';
import type { DecideHandoff } from '../commands.ts';
import { askAboutHeld } from '../epics/hold.ts';
import { followedBy, refOf, type Turn, taskOf, unitOf } from '../lookup.ts';
import type { Facts, Handoff, Task } from '../state.ts';
import { abandonUnit } from './abandon.ts';
import { amendedFrom, runAmended } from './amend.ts';
import { checkBinding, decideAnew } from './decided-anew.ts';
import { allowedDecisions } from './decision-table.ts';
import { extendUnit } from './extend-unit.ts';
import { GRANTED, NOTHING } from './granted-by.ts';
import { openFixes } from './open-fixes.ts';
import { closedOr, openHandoff } from './open-handoff.ts';
import { resolveUnit } from './resolve.ts';
import { retriedFrom, retryUnit } from './retry.ts';
import { splitUnit } from './split.ts';

type Decided = EventNamed<'human_decided'>['data'];

/** One decision about one version of a handoff: the first wins, the same one again changes nothing. */
export const decideHandoff = (command: DecideHandoff, turn: Turn): Facts => {
  if (turn.state.decided[command.handoff] === command.decisionId) return [];
  const open = openHandoff(turn, command) ?? closedOr(turn, command.handoff);
  refuse(turn, command, open);
  const decided = { type: 'human_decided', data: decidedData(turn, command, open) } as const;
  const follows = followedBy(turn, [decided, ...lifted(turn, open.unitTask)], (later) =>
    followedBy(later, then(later, command, open), (last) => askAboutHeld(last, open.unitTask.id)),
  ).slice(1);
  const stopped_runs = stoppedRuns(turn, decided.data, follows);
  return [stopped_runs.length === 0 ? decided : { ...decided, data: { ...decided.data, stopped_runs } }, ...follows];
};

/** Runs in flight that another one takes the place of, or whose task ends: whoever has not begun them yet never may. */
const stoppedRuns = ({ state }: Turn, { task: unit, ended_tasks: ended }: Decided, follows: Facts) => {
  const begun = follows.flatMap((fact) => (BEGINS.has(fact.type) && 'task' in fact.data ? fact.data.task : []));
  return Object.values(state.tasks).flatMap(({ id, unit: own, current }) =>
    own === unit && current !== null && [...begun, ...ended].includes(id) ? [{ task: id, run: current.run }] : [],
  );
};

const BEGINS: ReadonlySet<LineageEvent['type']> = new Set(['node_ready', 'node_queued', 'decomposition_requested']);

interface Open {
  readonly unitTask: Task;
  readonly handoff: Handoff;
}

/** @throws {Refused} where the handoff does not allow it, or it says what can not be done. */
const refuse = (turn: Turn, { decision }: DecideHandoff, { unitTask, handoff }: Open): void => {
  const allowed = allowedDecisions(turn, unitTask, handoff.causes);
  if (!allowed.includes(decision.kind)) {
    throw new Refused('decision_not_allowed', `${decision.kind}; this handoff allows ${allowed.join(', ')}`);
  }
  if (decision.kind === 'approve' || decision.kind === 'override') checkBinding(handoff, decision);
};

const decidedData = (turn: Turn, command: DecideHandoff, { unitTask, handoff }: Open): Decided => ({
  ...refOf(turn.state, unitTask),
  handoff: handoff.id,
  handoff_version: handoff.version,
  decision_id: command.decisionId,
  decision: command.decision,
  nodes: command.nodes === null ? null : [...command.nodes],
  node_index: nodeIndexOf(command, { unitTask, handoff }),
  ended_tasks: isAboutUnit(command.decision, handoff, unitTask) ? openFixes(turn, unitTask) : [],
  granted: grantedBy(command.decision),
  actor: command.actor,
  authenticated: command.authenticated,
  decided_at: turn.now,
  signature: command.signature,
  comment: command.comment,
  comment_artifact: command.commentArtifact,
});

const grantedBy = ({ kind }: Decision): Decided['granted'] =>
  kind === 'retry' || kind === 'amend' || kind === 'resolve' ? GRANTED[kind] : NOTHING;

const nodeIndexOf = ({ decision, nodes }: DecideHandoff, { unitTask, handoff }: Open): number | null => {
  if (decision.kind === 'retry') return retriedFrom(unitTask, handoff, decision);
  return decision.kind === 'amend' && nodes !== null ? amendedFrom(unitTask, nodes) : null;
};

/** A retry of a fix, or more for it, goes on with it; an end ends everything; all else begins with the unit itself. */
const isAboutUnit = ({ kind }: Decision, { paused }: Handoff, unitTask: Task): boolean => {
  if (kind === 'abandon') return false;
  return (kind !== 'retry' && kind !== 'extend') || paused.task === unitTask.id;
};

/** Whatever a human wants done is looked at again like new work. */
const lifted = (turn: Turn, unitTask: Task): Facts => {
  const { affinity: from, start } = unitOf(turn.state, unitTask);
  if (from >= start) return [];
  return [{ type: 'affinity_changed', data: { ...refOf(turn.state, unitTask), from, to: start, reason: 'decided' } }];
};

/** What follows from the decision, in the same append. */
const then = (turn: Turn, command: DecideHandoff, { unitTask, handoff }: Open): Facts => {
  const { decision } = command;
  const task = taskOf(turn.state, unitTask.id);
  switch (decision.kind) {
    case 'retry':
      return retryUnit(turn, task, { handoff, decision });
    case 'amend':
      return runAmended(turn, task);
    case 'approve':
    case 'override':
      return decideAnew(turn, task, { handoff, signature: command.signature });
    case 'resolve':
      return resolveUnit(turn, task, {
        ...{ decision, signature: command.signature, handoff: handoff.id },
        reason: command.comment ?? 'excluded by a human',
      });
    case 'split':
      return splitUnit(turn, task, decision);
    case 'extend':
      return extendUnit(turn, task, { handoff, decision });
    case 'abandon':
      return abandonUnit(turn, task, { handoff, reason: command.comment ?? 'abandoned' });
    default:
      return decision satisfies never;
  }
};

import { childAddress, taskIdAt } from '@fixpoint/contracts/addresses';
import type { TaskSpec } from '@fixpoint/contracts/documents/task';
import type { LineageEvent } from '@fixpoint/contracts/events/catalogue';
import type { FailureSignal } from '@fixpoint/contracts/events/epic-events';
import { Refused } from '@fixpoint/decider/refused';
import { jsonBytes } from '../bounded.ts';
import { boundsOf } from '../budget/effective-bounds.ts';
import type { SubmitChild } from '../commands.ts';
import { enterNode } from '../enter-node.ts';
import { childrenBound, splitDepthBound } from '../limits.ts';
import { followedBy, inFlight, nodeOf, refOf, type Turn, taskOf, unitTaskOf } from '../lookup.ts';
import type { Admitted, Facts, Task } from '../state.ts';
import { childrenMade } from '../tree.ts';

const CHILD_BYTES = 48 * 1024;
const NOTHING_FAILED: FailureSignal = { justifications: [], prior_failures: [] };

/**
 * Work that a run hands in: a child of its unit, in the scope of the lineage and within its budget. The same key of the
 * same node names the same child, whichever run of the node asks.
 */
export const submitChild = (command: SubmitChild, turn: Turn): Facts => {
  const flight = inFlight(turn.state, command.task, command.run);
  if (flight === null) throw new Refused('run_not_in_flight', `${command.task} ${command.run}`);
  const known = submittedBy(turn.state, flight.task, command.key);
  if (known !== null) {
    if (known.specHash === command.specHash) return [];
    throw new Refused('idempotency_key_reused', command.key);
  }
  const unitTask = unitTaskOf(turn.state, flight.task);
  refuseBeyond(turn, unitTask, command.spec);
  const { task, run } = flight;
  const from = {
    from_task: task.id,
    run: run.run,
    node_id: submittingNode(task),
    base_ref: run.startRef,
    origin: null,
  };
  const submitted = childSubmitted(turn, unitTask, { ...command, failureSignal: NOTHING_FAILED, from });
  return followedBy(turn, [submitted], (later) => enterNode(later, taskOf(later.state, submitted.data.child.task), 0));
};

/** The child that the current node of a task handed in under a key. */
export const submittedBy = (state: Admitted, task: Task, key: string): Task | null =>
  Object.values(state.tasks).find(
    ({ submission, parent }) =>
      parent === task.unit && submission?.node === submittingNode(task) && submission.key === key,
  ) ?? null;

/** A fix hands in on its own account. */
const submittingNode = (task: Task): string =>
  task.kind === 'fix' ? `${task.address}/${nodeOf(task).id}` : nodeOf(task).id;

/** What keeps work out of a lineage. @throws {Refused} */
export const refuseBeyond = (turn: Turn, unitTask: Task, spec: TaskSpec): void => {
  const { scope, childrenUsed, source } = turn.state;
  if (spec.project !== scope.project || spec.mode !== scope.mode) {
    throw new Refused('scope_of_lineage', `${scope.project} ${scope.mode}`);
  }
  const { git } = spec.workspace;
  if (git !== null && (git.url !== source?.url || git.ref !== source.ref)) throw new Refused('workspace_of_lineage');
  const depth = splitDepthBound(unitTask.splitDepth, boundsOf(turn, unitTask));
  if (!depth.allowed) throw new Refused('no_depth_left', `${depth.asked} is asked for, ${depth.limit} allowed`);
  const children = childrenBound(childrenUsed, 1, boundsOf(turn, unitTask));
  if (!children.allowed) throw new Refused('no_children_left', `${children.limit} are allowed in one lineage`);
  if (jsonBytes(spec) > CHILD_BYTES) throw new Refused('document_too_large');
  if (turn.state.deadlinePassed) throw new Refused('deadline_passed');
};

/** Where a child comes from: a run of the unit or of a fix, or a producer. */
type Submitter = Pick<ChildSubmitted['data'], 'from_task' | 'run' | 'node_id' | 'base_ref' | 'origin'>;
type Handed = Pick<SubmitChild, 'spec' | 'specHash' | 'key'> & {
  readonly failureSignal: FailureSignal;
  readonly from: Submitter;
};

type ChildSubmitted = Extract<LineageEvent, { type: 'child_submitted' }>;

export const childSubmitted = (turn: Turn, unitTask: Task, handed: Handed): ChildSubmitted => {
  const { spec, specHash, key, failureSignal, from } = handed;
  const address = childAddress(unitTask.address, childrenMade(turn.state, unitTask.id) + 1);
  return {
    type: 'child_submitted',
    data: {
      ...{ ...refOf(turn.state, unitTask), scope: turn.state.scope },
      child: {
        ...{ task: taskIdAt(turn.state.root, address), address, name: spec.name, goal: spec.goal },
        ...{ inputs: spec.inputs ?? {}, nodes: spec.nodes, spec_hash: specHash, salvage: false },
        parts: spec.parts ?? [],
        failure_signal: failureSignal,
      },
      ...{ ...from, key, priority: spec.priority },
      split_depth: unitTask.splitDepth + 1,
      lineage_children: turn.state.childrenUsed + 1,
    },
  };
};

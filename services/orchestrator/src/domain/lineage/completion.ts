import type { LineageEvent } from '@fixpoint/contracts/events/catalogue';
import type { RunResult } from './commands.ts';
import { agentAttemptsAfter } from './count-run.ts';
import { enterNode } from './enter-node.ts';
import { followedBy, nodeOf, refOf, startOf, type Turn, taskOf, unitOf } from './lookup.ts';
import type { Facts, Task } from './state.ts';

interface Completed {
  readonly task: Task;
  readonly result: RunResult;
}

/** A good judgement: the node is done, and with it the recovery that led here; then the next node or the end. */
export const completeNode = (turn: Turn, completed: Completed): Facts => {
  const { task, result } = completed;
  const facts = [nodeCompleted(turn, completed), ...resolution(turn, task, result.run)];
  return followedBy(turn, facts, (after) => {
    const done = taskOf(after.state, task.id);
    return enterNode(after, done, done.nodeIndex + 1);
  });
};

const nodeCompleted = (turn: Turn, { task, result }: Completed): LineageEvent => {
  const silent = result.output === null && result.output_artifact === null;
  return {
    type: 'node_completed',
    data: {
      ...refOf(turn.state, task),
      run: result.run,
      node_id: nodeOf(task).id,
      node_index: task.nodeIndex,
      ...(task.current === null ? {} : agentAttemptsAfter(turn, task, task.current)),
      outcome: result.outcome === 'degraded' ? 'degraded' : 'satisfied',
      rung: result.rung,
      workspace_ref: result.workspace_ref ?? startOf(task),
      output: silent ? task.heldOutput.output : result.output,
      output_artifact: silent ? task.heldOutput.outputArtifact : result.output_artifact,
    },
  };
};

/** Fixpoint: a clean judgement of the unit and no open fix. */
const resolution = (turn: Turn, task: Task, run: number): Facts => {
  const unit = unitOf(turn.state, task);
  if (task.kind === 'fix' || !unit.recovering) return [];
  const { depthReached: depth, fixAttempts: attempts_used } = unit;
  return [{ type: 'recovery_resolved', data: { ...refOf(turn.state, task), run, depth, attempts_used } }];
};

import { ROOT_ADDRESS } from '@fixpoint/contracts/addresses';
import { Refused } from '@fixpoint/decider/refused';
import { withinBudget } from './budget/within-budget.ts';
import type { Context, SubmitTask } from './commands.ts';
import { enterNode } from './enter-node.ts';
import { evolve } from './evolve.ts';
import { taskOf } from './lookup.ts';
import { escalated } from './stall/escalated.ts';
import type { Facts, Lineage } from './state.ts';

/** Admits a root. The key made the root's id, so another body under it is another task that has no right to the id. */
export const submitTask = (command: SubmitTask & Context, before: Lineage): Facts => {
  if (before.status === 'admitted') {
    if (before.submittedHash === command.specHash) return [];
    throw new Refused('idempotency_key_reused', command.root);
  }
  const submitted = submission(command);
  const state = evolve(before, submitted);
  if (state.status === 'unknown') return [];
  const turn = { ...command, state };
  const root = taskOf(state, command.root);
  const begun = command.origin ? escalated(turn, root, command) : enterNode(turn, root, 0);
  return [submitted, ...withinBudget(turn, begun)];
};

const submission = ({ root, spec, specHash, protocol, idempotencyKey, origin, now, mode }: SubmitTask & Context) => ({
  type: 'task_submitted' as const,
  data: {
    root,
    task: root,
    address: ROOT_ADDRESS,
    scope: { project: spec.project, mode: spec.mode },
    spec,
    spec_hash: specHash,
    protocol,
    idempotency_key: idempotencyKey,
    submitted_at: now,
    deadline_at: new Date(Date.parse(now) + mode.bounds.deadline_ms).toISOString(),
    ...(origin && { origin }),
  },
});

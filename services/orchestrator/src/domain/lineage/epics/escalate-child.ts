import { Refused } from '@fixpoint/decider/refused';
import { bounded } from '../bounded.ts';
import type { EscalateChild } from '../commands.ts';
import { followedBy, startOf, type Turn, taskOf } from '../lookup.ts';
import { escalated } from '../stall/escalated.ts';
import type { Admitted, Facts, Task } from '../state.ts';
import { isLive } from '../tree.ts';
import { childSubmitted, refuseBeyond } from './submit-child.ts';

const DETAIL_BYTES = 4 * 1024;

/**
 * Work that a producer could not finish, out of a lineage that still runs: a child of its root, which does not complete
 * without it. It begins as a unit that has stalled. The same key names the same child.
 * @throws {Refused} where the lineage has ended or has no room for it: it is to become a lineage of its own.
 */
export const escalateChild = (command: EscalateChild, turn: Turn): Facts => {
  const { key, spec, specHash, origin } = command;
  const known = escalatedAs(turn.state, key);
  if (known !== null) {
    if (known.specHash === specHash) return [];
    throw new Refused('idempotency_key_reused', key);
  }
  const root = taskOf(turn.state, turn.state.root);
  if (!isLive(root)) throw new Refused('lineage_ended', root.status);
  refuseBeyond(turn, root, spec);
  const justification = bounded(origin.diagnosis, DETAIL_BYTES, 'the whole is in the escalation');
  const said = { validator: origin.stage, severity: 'blocker', justification };
  const failureSignal = { justifications: [said], prior_failures: [] };
  const from = { from_task: root.id, run: null, node_id: '', base_ref: startOf(root), origin };
  const submitted = childSubmitted(turn, root, { spec, specHash, key, failureSignal, from });
  const { task } = submitted.data.child;
  return followedBy(turn, [submitted], (later) => escalated(later, taskOf(later.state, task), command));
};

/** The child that a producer's key names; null when there is none. */
export const escalatedAs = ({ root, tasks }: Admitted, key: string): Task | null =>
  Object.values(tasks).find(
    ({ submission, parent }) => parent === root && submission?.node === '' && submission.key === key,
  ) ?? null;

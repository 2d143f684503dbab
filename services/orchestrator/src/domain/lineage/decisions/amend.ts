import { contentHash } from '@fixpoint/contracts/content-hash';
import { Refused } from '@fixpoint/decider/refused';
import { enterNode } from '../enter-node.ts';
import type { Turn } from '../lookup.ts';
import type { Facts, Task } from '../state.ts';

/**
 * The first node that differs: what is before it stays done. What has not been reached is entered when it is its turn.
 * @throws {Refused} when nothing differs.
 */
export const amendedFrom = ({ nodes: before, nodeIndex }: Task, nodes: Task['nodes']): number => {
  const differs = nodes.findIndex((node, index) => !isSame(node, before[index]));
  const first = differs === -1 && nodes.length < before.length ? nodes.length - 1 : differs;
  if (first === -1) throw new Refused('nothing_amended', 'the nodes are the same');
  return Math.min(first, nodeIndex);
};

const isSame = (one: Task['nodes'][number], other: Task['nodes'][number] | undefined): boolean =>
  other !== undefined && contentHash(one) === contentHash(other);

/** The unit's new nodes, from the first one that the decision changed. */
export const runAmended = (turn: Turn, unitTask: Task): Facts => enterNode(turn, unitTask, unitTask.nodeIndex);

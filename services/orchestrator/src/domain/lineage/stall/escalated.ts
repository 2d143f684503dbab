import { bounded } from '../bounded.ts';
import type { SubmitTask } from '../commands.ts';
import { enterNode } from '../enter-node.ts';
import type { Turn } from '../lookup.ts';
import { DataMissing } from '../node-data.ts';
import { stallUnit } from '../stall.ts';
import type { Facts, Task } from '../state.ts';

type Escalated = Pick<SubmitTask, 'origin' | 'aboutMachinery'>;

const DETAIL_BYTES = 4 * 1024;

/**
 * Work that somebody else could not finish begins as a unit that has stalled: it is looked whether it is met already, and
 * then it goes the way of every stall. A condition of its first node comes first, and so does what that node refers to.
 */
export const escalated = (turn: Turn, unitTask: Task, { origin, aboutMachinery }: Escalated): Facts => {
  if (unitTask.nodes[0]?.if !== undefined) return enterNode(turn, unitTask, 0);
  const said = [origin?.stage, origin?.diagnosis].filter((part) => part !== undefined && part !== '').join(': ');
  const reason = {
    run: 1,
    counter: 'escalation',
    limit: 0,
    used: 0,
    raw_halt_type: 'escalation',
    halt_type: aboutMachinery === true ? 'environment_error' : 'unmet',
    detail: bounded(said, DETAIL_BYTES, 'the whole is in the escalation'),
  } as const;
  try {
    return stallUnit(turn, unitTask, reason);
  } catch (error) {
    if (!(error instanceof DataMissing)) throw error;
    return enterNode(turn, unitTask, 0);
  }
};

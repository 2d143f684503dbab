import type { DecisionOf } from '@fixpoint/contracts/human-decision';
import { councilRequest } from '../council-request.ts';
import type { Turn } from '../lookup.ts';
import type { Facts, Task } from '../state.ts';

/** The council is asked, and told what the human thinks. */
export const splitUnit = (turn: Turn, unitTask: Task, { hint }: DecisionOf<'split'>): Facts => [
  councilRequest(turn, unitTask, hint),
];

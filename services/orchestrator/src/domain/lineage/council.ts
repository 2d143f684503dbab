import type { LineageEvent } from '@fixpoint/contracts/events/catalogue';
import { after, backoffMs } from './backoff.ts';
import { boundsOf } from './budget/effective-bounds.ts';
import type { DecideSplit, GiveUpRequest } from './commands.ts';
import { splitUnit } from './epics/open.ts';
import { countedIn, faultCount } from './faults.ts';
import { handOff, NO_FINDINGS } from './handoff.ts';
import { faultBound } from './limits.ts';
import { followedBy, refOf, type Turn, taskOf, unitOf } from './lookup.ts';
import { floor } from './stall/floor.ts';
import type { Facts, FaultCount, Task } from './state.ts';

/** The unit whose open request this is; null when the answer is late or repeated. */
const asked = (turn: Turn, id: string, request: number): Task | null => {
  const task = turn.state.tasks[id];
  if (task?.status !== 'open') return null;
  const { number, open } = unitOf(turn.state, task).request;
  return open && number === request ? task : null;
};

/** A split is made whole or not at all. */
export const decideSplit = ({ answer }: DecideSplit, turn: Turn): Facts => {
  const task = asked(turn, answer.task, answer.request);
  if (task === null) return [];
  if (!answer.should_decompose) return notSplit(turn, task, answer.reason);
  const kind = task.nodes.length === 0 ? 'container' : 'split';
  const split = { request: answer.request, slices: answer.slices, kind, auto: true } as const;
  return splitUnit(turn, task, {
    ...split,
    floor: (later, { detail }) => notSplit(later, taskOf(later.state, task.id), detail),
  });
};

/** No split: a human. */
const notSplit = (turn: Turn, task: Task, reason: string): Facts =>
  floor(turn, task, { detail: `not split: ${reason}`, council: reason });

/** The council could not answer: asked anew after a back-off, under a new number; its late answer is refused. */
export const giveUpRequest = (command: GiveUpRequest, turn: Turn): Facts => {
  const task = asked(turn, command.task, command.request);
  if (task === null) return [];
  const { class: name, detail, provider = null } = command;
  const own = faultCount(turn, task, name);
  const counts = countedIn(turn, provider, own);
  const tries = counts === own ? own.count - own.atLastEvidence : LONGEST;
  const silent = councilFaulted(turn, task, { ...command, ...counts, provider, tries });
  if (faultBound({ class: name, ...counts, provider }, boundsOf(turn, task)).allowed) return [silent];
  const cause = { haltType: 'environment_error', rawHaltType: name, help: 'infrastructure' } as const;
  return followedBy(turn, [silent], (later) => handOff(later, task, { ...NO_FINDINGS, ...cause, detail, run: null }));
};

type Fault = Pick<GiveUpRequest, 'class' | 'retryAfterMs' | 'detail'> &
  FaultCount & { readonly provider: string | null; readonly tries: number };

/** A provider that is paused is not asked again before the longest of the council's back-offs. */
const LONGEST = 1_000;

const councilFaulted = (turn: Turn, task: Task, fault: Fault): LineageEvent => ({
  type: 'fault_recorded',
  data: {
    ...refOf(turn.state, task),
    run: Math.max(1, task.runs),
    phase: 'council',
    class: fault.class,
    count: fault.count,
    count_at_last_evidence: fault.atLastEvidence,
    next_at: after(turn.now, Math.max(fault.retryAfterMs, backoffMs(turn.mode, 'council', fault.tries))),
    next_run: null,
    output: null,
    output_artifact: null,
    detail: fault.detail,
    provider: fault.provider,
    retry_after_ms: fault.retryAfterMs,
  },
});

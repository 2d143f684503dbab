import { checksOutput } from '@fixpoint/contracts/documents/task';
import type { LineageEvent } from '@fixpoint/contracts/events/catalogue';
import { isGitProvider } from '@fixpoint/contracts/provider-name';
import { providerOfFault } from '../provider/needs.ts';
import { after, backoffMs } from './backoff.ts';
import { boundsOf } from './budget/effective-bounds.ts';
import type { FaultRun, RefuseRun, RegateRun } from './commands.ts';
import { isLanding } from './epics/landing-of.ts';
import { handOff, NO_FINDINGS } from './handoff.ts';
import { faultBound, isCertain, regateBound } from './limits.ts';
import { followedBy, inFlight, nodeOf, refOf, type Turn, taskOf, unitOf } from './lookup.ts';
import { needsOf } from './queue.ts';
import { hasCheck, start } from './start-run.ts';
import type { Facts, FaultCount, Run, Task } from './state.ts';

/** `provider`: as whoever met it names it; left out or null: told by its class. */
type Fault = Omit<FaultRun, 'type' | 'task' | 'run'> & { readonly provider?: string | null };
interface Flight {
  readonly task: Task;
  readonly run: Run;
}

export const faultRun = (command: FaultRun, turn: Turn): Facts => {
  const flight = inFlight(turn.state, command.task, command.run);
  return flight === null ? [] : recordFault(turn, flight, command);
};

/** The machinery failed: no attempt, no demotion. A new run follows its back-off, until the class has used up its cap. */
export const recordFault = (turn: Turn, flight: Flight, fault: Fault): Facts => {
  const { task, run } = flight;
  const provider = fault.provider ?? providerOf(turn, flight, fault);
  const counts = faultCount(turn, task, fault.class);
  const counted = { ...fault, provider, ...countedIn(turn, provider, counts) };
  const bound = faultBound(counted, boundsOf(turn, task));
  const recorded = faultRecorded(turn, flight, counted);
  if (bound.allowed) return [recorded];
  return followedBy(turn, [recorded], (later) =>
    handOff(later, taskOf(later.state, task.id), { ...machinery(fault), run: run.run }),
  );
};

/** In a storm the provider's own pauses are what ends: whoever asks it meanwhile takes nothing from the unit. */
export const countedIn = ({ admission }: Turn, provider: string | null, counts: FaultCount): FaultCount => {
  const isExpected = provider !== null && admission?.paused.includes(provider) === true;
  return isExpected ? { ...counts, atLastEvidence: counts.atLastEvidence + 1 } : counts;
};

/** Whoever governs and judges asks models of its own, which are none of the run's: they fetch from its hosts alone. */
const providerOf = (turn: Turn, { task, run }: Flight, { phase, class: name }: Fault): string | null => {
  const needs = needsOf(turn, task, { kind: run.kind, nodeIndex: task.nodeIndex });
  return providerOfFault(name, phase === 'action' ? needs : needs.filter(isGitProvider));
};

const machinery = ({ class: rawHaltType, detail }: Pick<Fault, 'class' | 'detail'>) => ({
  ...NO_FINDINGS,
  haltType: 'environment_error' as const,
  rawHaltType,
  // What is wrong in the task itself is not mended by whoever keeps the machines.
  help: isCertain(rawHaltType) ? ('cannot_act' as const) : ('infrastructure' as const),
  detail,
});

export const faultCount = (turn: Turn, task: Task, name: Fault['class']): FaultCount => {
  const { count, atLastEvidence } = unitOf(turn.state, task).faults[name] ?? { count: 0, atLastEvidence: 0 };
  return { count: count + 1, atLastEvidence };
};

type Counted = Fault & FaultCount & { readonly provider: string | null };

const faultRecorded = (turn: Turn, { task, run }: Flight, fault: Counted): LineageEvent => {
  const backoff = backoffMs(turn.mode, fault.class, Math.max(1, fault.count - fault.atLastEvidence));
  return {
    type: 'fault_recorded',
    data: {
      ...refOf(turn.state, task),
      run: run.run,
      phase: fault.phase,
      class: fault.class,
      count: fault.count,
      count_at_last_evidence: fault.atLastEvidence,
      next_at: after(turn.now, Math.max(backoff, fault.retryAfterMs)),
      next_run: runAfter(task, run, fault),
      output: fault.result?.output ?? null,
      output_artifact: fault.result?.output_artifact ?? null,
      detail: fault.detail,
      provider: fault.provider,
      retry_after_ms: fault.retryAfterMs,
    },
  };
};

/** What was done is never done again for a judge's sake, and where effects are possible only a check tells. */
const runAfter = (task: Task, run: Run, { result, effects }: Fault) => {
  // Landing is the same whatever came of it before: it ends where it belongs, once.
  if (isLanding(run.kind)) return { run_kind: run.kind, workspace_ref: run.startRef, judges: null };
  if (result !== null) {
    return {
      run_kind: 'check' as const,
      workspace_ref: result.workspace_ref ?? run.startRef,
      judges: judgedIn(task, run),
    };
  }
  const kind = effects === 'possible' ? ('check' as const) : run.kind;
  return { run_kind: kind, workspace_ref: run.startRef, judges: run.judges };
};

export const judgedIn = (task: Task, run: Pick<Run, 'run' | 'kind' | 'judges'>): number | null => {
  if (!hasCheck(task)) return run.run;
  if (!checksOutput(nodeOf(task))) return null;
  return run.kind === 'normal' ? run.run : run.judges;
};

/** An expired token is nobody's fault: the same run is gated anew, within reason. Any other refusal is ours. */
export const refuseRun = (command: RefuseRun, turn: Turn): Facts => {
  const { reason, task: id, run: number, detail } = command.answer;
  const flight = inFlight(turn.state, id, number);
  if (flight === null) return [];
  if (reason === 'token_expired' && regateBound(flight.run.regates, boundsOf(turn, flight.task)).allowed)
    return gatedAnew(turn, flight);
  const told = `${reason} ${nodeOf(flight.task).id}: ${detail}`;
  return recordFault(turn, flight, { ...NOT_BEGUN, class: 'internal', detail: told });
};

/** A run that nobody had begun stood in a queue: no fault within reason, unless somebody has given the unit up already. */
export const regateRun = (command: RegateRun, turn: Turn): Facts => {
  const flight = inFlight(turn.state, command.task, command.run);
  if (flight === null) return [];
  const isGivenUp = unitOf(turn.state, flight.task).handoff !== null;
  if (!isGivenUp && regateBound(flight.run.regates, boundsOf(turn, flight.task)).allowed)
    return gatedAnew(turn, flight);
  return recordFault(turn, flight, { ...NOT_BEGUN, class: 'no_answer', detail: command.detail });
};

const NOT_BEGUN = { phase: 'gate', retryAfterMs: 0, result: null, effects: 'none' } as const;

const gatedAnew = (turn: Turn, { task, run }: Flight): Facts => {
  const again = { kind: run.kind, purpose: 'regate', ref: run.startRef, judges: run.judges } as const;
  return start(turn, task, { ...again, nodeIndex: task.nodeIndex, basis: task.basis });
};

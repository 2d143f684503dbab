import type { Clock } from '@fixpoint/contracts/clock';
import { commandOf, type ValidatorSpec } from '@fixpoint/contracts/documents/protocol';
import type { EventNamed } from '@fixpoint/contracts/events/catalogue';
import type { FaultClass } from '@fixpoint/contracts/events/executor-events';
import type { Verdict } from '@fixpoint/contracts/verdict';
import { ProtocolUnknown } from '@fixpoint/documents/protocol-catalog';
import { WorkspaceFault } from '@fixpoint/execution/workspace-fault';
import { type ValidatorAnswer, verdictOf } from '@fixpoint/validation/verdict';

/** What a machine could not do. */
export interface Fault {
  readonly class: FaultClass;
  readonly detail: string;
}

export type Verdicts = { readonly verdicts: readonly Verdict[] } | { readonly fault: Fault };

/** Asks one validator. May throw a fault of the machinery. */
export type Ask = (validator: ValidatorSpec) => Promise<ValidatorAnswer>;

/** Verdicts of this question that are in, and where more are put; see `recorded-verdicts.ts`. */
export interface RecordedVerdicts {
  /** Undefined: still to be asked. */
  of(validator: string): Verdict | undefined;
  keep(verdict: Verdict): Promise<void>;
}

interface Asking {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly signal: AbortSignal;
  readonly recorded: RecordedVerdicts;
}

/**
 * Asks validators one after the other, in protocol order. The first fault ends it: without one answer there is no
 * judgement, and asking on would only cost time.
 */
export const askAll = async (validators: readonly ValidatorSpec[], ask: Ask, asking: Asking): Promise<Verdicts> => {
  const verdicts: Verdict[] = [];
  for (const [place, validator] of validators.entries()) {
    if (asking.signal.aborted) return { fault: { class: 'shutdown', detail: 'stopped' } };
    const said = asking.recorded.of(validator.id) ?? (await askOne(validator, ask, asking));
    if (said === null) continue;
    if ('class' in said) return { fault: said };
    verdicts.push(said);
    if (isWorthKeeping(validators, place)) await asking.recorded.keep(said);
  }
  return { verdicts };
};

const askOne = async (validator: ValidatorSpec, ask: Ask, { clock }: Asking): Promise<Verdict | Fault | null> => {
  const startedAt = clock.monotonicMs();
  const answer = await ask(validator);
  if (answer.answer === 'fault') return { class: answer.class, detail: `${validator.id}: ${answer.detail}` };
  return verdictOf(validator, answer, clock.monotonicMs() - startedAt);
};

/** What a command said while another command is still to be run; everything else is asked again in a moment. */
const isWorthKeeping = (validators: readonly ValidatorSpec[], place: number): boolean =>
  [validators[place], validators.slice(place + 1).find(isCommand)].every(
    (each) => each !== undefined && isCommand(each),
  );

const isCommand = ({ check }: ValidatorSpec): boolean => commandOf(check) !== null;

/** Whatever is thrown while validators are asked is the machinery's doing; only its class differs. */
export const faultOf = (error: unknown): Fault => ({
  class: error instanceof WorkspaceFault ? error.faultClass : 'internal',
  detail: error instanceof Error ? error.message.slice(0, 1000) : 'unknown',
});

/** A protocol that is not there is said of the run; any other trouble with reading it is the store's. */
export const unknownProtocol = (error: unknown): Fault => {
  if (error instanceof ProtocolUnknown) return faultOf(error);
  throw error;
};

type RunRef = Pick<EventNamed<'node_ready'>['data'], 'root' | 'task' | 'address' | 'run'>;

export const runRefOf = ({ root, task, address, run }: RunRef): RunRef => ({ root, task, address, run });

/** @param phase which question could not be answered. */
export const faultEvent = (run: RunRef, phase: 'gate' | 'judge', fault: Fault): EventNamed<'gate_faulted'> => ({
  type: 'gate_faulted',
  data: { ...runRefOf(run), phase, class: fault.class, retry_after_ms: 0, detail: fault.detail },
});

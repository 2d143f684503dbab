import type { Json } from '@fixpoint/contracts/json';
import type { Git } from '@fixpoint/execution/git';
import type { PrimitiveResult } from '@fixpoint/execution/primitives/primitive';
import { primitives, runPrimitive } from '@fixpoint/execution/primitives/primitives';
import type { CheckResult } from '@fixpoint/validation/checks';
import type { CommandOutcome } from '../domain/ladder.ts';

/** What a primitive works on: the folder of the run (null where none is needed) and memory that lives as long as the run. */
export interface PrimitiveSetting {
  readonly folder: string | null;
  readonly scratch: Map<string, number>;
  readonly signal: AbortSignal;
}

export interface PrimitiveOutcome {
  readonly outcome: Extract<CommandOutcome, 'zero' | 'nonzero' | 'timed_out' | 'cancelled'>;
  readonly output: Json;
  readonly detail: string;
}

export interface PrimitiveCall {
  readonly setting: PrimitiveSetting;
  readonly timeoutMs: number;
}

type Input = Readonly<Record<string, Json>>;

/** The robust library of operations, called by name from recipes and postconditions. */
export interface PrimitiveCalls {
  /** Whether it runs inside this process and touches no folder. False for a name that is not known. */
  isInProcess(name: string): boolean;
  /** Parameters that do not fit are an outcome; a fault of the machinery is a thrown {@link PrimitiveFault}. */
  run(name: string, input: Input, call: PrimitiveCall): Promise<PrimitiveOutcome>;
  check(name: string, input: Input, call: PrimitiveCall): Promise<CheckResult>;
}

/** A primitive failed for a reason of the machinery: git or the disk, not the workspace's content. */
export class PrimitiveFault extends Error {
  override readonly name = 'PrimitiveFault';
}

export const primitiveCalls = (git: Git): PrimitiveCalls => ({
  isInProcess: (name) => primitives.get(name)?.inProcess ?? false,
  run: async (name, input, call) => {
    const problem = problemOf(name, input);
    if (problem !== null) return { outcome: 'nonzero', output: null, detail: problem };
    const result = await runBounded({ name, input, git }, call);
    if (result.ended !== 'done') return { outcome: result.ended, output: null, detail: result.ended };
    return { outcome: result.ok ? 'zero' : 'nonzero', output: result.output as Json, detail: result.detail };
  },
  check: async (name, input, call) => {
    const problem = problemOf(name, input);
    if (problem !== null) return { outcome: 'indeterminate', reason: 'wrong_check', detail: problem };
    const result = await runBounded({ name, input, git }, call);
    if (result.ended !== 'done') return { outcome: 'indeterminate', reason: result.ended, detail: result.ended };
    return { outcome: result.ok ? 'met' : 'unmet', detail: result.detail };
  },
});

type Bounded = ({ readonly ended: 'done' } & PrimitiveResult) | { readonly ended: 'timed_out' | 'cancelled' };

const runBounded = async (
  { name, input, git }: { readonly name: string; readonly input: Input; readonly git: Git },
  { setting, timeoutMs }: PrimitiveCall,
): Promise<Bounded> => {
  const timeout = AbortSignal.timeout(Math.ceil(timeoutMs));
  const signal = AbortSignal.any([setting.signal, timeout]);
  try {
    return { ended: 'done', ...(await runPrimitive(name, input, { ...setting, signal, git })) };
  } catch (error) {
    if (setting.signal.aborted) return { ended: 'cancelled' };
    if (timeout.aborted) return { ended: 'timed_out' };
    throw new PrimitiveFault(`${name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
};

const problemOf = (name: string, input: Input): string | null =>
  primitives.has(name) ? (primitives.get(name)?.problems(input)[0] ?? null) : `there is no primitive ${name}`;

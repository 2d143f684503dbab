import type { z } from 'zod';
import type { Git } from '../git.ts';

/** What a primitive may touch. */
export interface PrimitiveContext {
  /** The run's working folder; null when the node needs none. */
  readonly folder: string | null;
  /** Values that live as long as the run and are seen by all its primitives. */
  readonly scratch: Map<string, number>;
  readonly git: Git;
  readonly signal: AbortSignal;
}

/** As a check: `ok` is the verdict. As a recipe: `ok` stands for exit code 0. */
export interface PrimitiveResult {
  readonly ok: boolean;
  /** JSON for the node's output; null when there is nothing to tell. */
  readonly output: Readonly<Record<string, string | number | boolean | readonly string[]>> | null;
  /** One line for people. */
  readonly detail: string;
}

/** The step was not done, or what is asked for does not hold. */
export const failed = (detail: string): PrimitiveResult => ({ ok: false, output: null, detail });

export const noRepository = failed('the folder is no usable git repository');

/** A check of a primitive, as a document would write it. */
export interface PrimitiveCheck {
  readonly primitive: string;
  readonly with: Readonly<Record<string, unknown>>;
}

/** A robust step or check with a name; documents give its parameters as `with`. */
export interface Primitive {
  readonly name: string;
  /** One sentence for the reference and the command line. */
  readonly description: string;
  /** False: a check, which may be run at any time. */
  readonly effects: boolean;
  /** Runs in memory alone: no folder is made for it and no process started. All others need a folder. */
  readonly inProcess: boolean;
  /** Schema of `with`; each parameter has a description. */
  readonly parameters: z.ZodType;
  /** What is wrong with `with`, one sentence each; empty when nothing is. */
  problems(parameters: unknown): readonly string[];
  /** The check that holds after a successful run; null for a check. */
  readonly check: string | null;
  /** That check with its parameters. */
  postcondition(parameters: unknown): PrimitiveCheck | null;
  /**
   * @throws {z.ZodError} when `problems` were not asked before.
   * @throws a fault of the machinery (disk, git missing), or the abort of the signal: a check cut short has no verdict.
   * Whatever the workspace is like is a result.
   */
  run(context: PrimitiveContext, parameters: unknown): Promise<PrimitiveResult>;
}

interface Definition<Schema extends z.ZodType> {
  readonly name: string;
  readonly description: string;
  readonly effects: boolean;
  readonly inProcess: boolean;
  readonly parameters: Schema;
  /** Name of the check that holds afterwards, and its parameters. */
  readonly promises?: {
    readonly check: string;
    readonly with: (parameters: z.output<Schema>) => PrimitiveCheck['with'];
  };
  readonly run: (context: PrimitiveContext, parameters: z.output<Schema>) => Promise<PrimitiveResult>;
}

/** No document holds `undefined`: what the schema calls that is a parameter nobody gave. */
const inWords = (message: string): string => (message.endsWith('received undefined') ? 'it is needed' : message);

/** Binds a primitive to its own parameters. */
export const definePrimitive = <Schema extends z.ZodType>(definition: Definition<Schema>): Primitive => ({
  ...definition,
  check: definition.promises?.check ?? null,
  problems: (parameters) => {
    const issues = definition.parameters.safeParse(parameters).error?.issues ?? [];
    return issues.map(({ path, message }) => `${['with', ...path].join('.')}: ${inWords(message)}`);
  },
  postcondition: (parameters) => {
    const { promises } = definition;
    if (promises === undefined) return null;
    return { primitive: promises.check, with: promises.with(definition.parameters.parse(parameters)) };
  },
  run: (context, parameters) => definition.run(context, definition.parameters.parse(parameters)),
});

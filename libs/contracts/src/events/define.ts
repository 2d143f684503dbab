import { z } from 'zod';

export type ServiceName = 'orchestrator' | 'validator' | 'executor' | 'decomposer' | 'auditor';

/** What data of one version says in the next. Total over what that version's schema took; it must not change its argument. */
export type Upcast = (data: never) => unknown;

/** One event type: who alone may write it, the version its schema has now, and what it says. */
export interface EventDefinition<Type extends string, Data extends z.ZodType> {
  readonly type: Type;
  /** Services that may append it: one owner; `dead_lettered` alone belongs to all. */
  readonly owners: readonly ServiceName[];
  readonly version: number;
  readonly description: string;
  readonly data: Data;
  /**
   * From version 1 to 2, from 2 to 3, and so on to `version`: what was stored stays as it is and is read as what it would be
   * today. Left out while there is only version 1. Never edited once released.
   */
  readonly upcasts?: readonly Upcast[];
}

export const defineEvent = <const Type extends string, Data extends z.ZodType>(
  definition: EventDefinition<Type, Data>,
): EventDefinition<Type, Data> => definition;

/** `{type, data}` of a definition. */
export type EventOf<D> =
  D extends EventDefinition<infer Type, infer Data> ? { readonly type: Type; readonly data: z.infer<Data> } : never;

export const taskRef = { root: z.string(), task: z.string(), address: z.string() };
export const runRef = { ...taskRef, run: z.int().positive() };
export const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/);

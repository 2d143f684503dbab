import { z } from 'zod';
import { boundsSchema } from '../documents/protocol.ts';
import { defineEvent, taskRef } from './define.ts';

/** Money in millionths of a currency unit, and tokens of models. */
export const moneySchema = z.object({ money_micros: z.int().nonnegative(), tokens: z.int().nonnegative() });
export type Money = z.infer<typeof moneySchema>;

/** What one run may use. */
export const allowanceSchema = z.object({ time_ms: z.int().positive(), ...moneySchema.shape });
export type Allowance = z.infer<typeof allowanceSchema>;

/** What ends with a unit: everything below it, in the same append. */
const endOfUnit = {
  /** The unit. */
  ...taskRef,
  /** What was open below it: children, fixes, and all of theirs. The unit itself is not among them. */
  ended_tasks: z.array(z.string()),
  /** Runs in flight of the unit and of what ended with it: their results are late from now on. */
  stopped_runs: z.array(z.object({ task: z.string(), run: z.int().positive() })),
};

const taskCancelled = defineEvent({
  type: 'task_cancelled',
  owners: ['orchestrator'],
  version: 1,
  description:
    'Somebody wants no more of this unit. Terminal; wins over every result that comes later. The actor is in the metadata.',
  data: z.object({ ...endOfUnit, reason: z.string() }),
});

const taskAbandoned = defineEvent({
  type: 'task_abandoned',
  owners: ['orchestrator'],
  version: 1,
  description: 'A human, or the declared outcome of a handoff that nobody answered, gave the unit up. Terminal.',
  data: z.object({ ...endOfUnit, handoff: z.string(), reason: z.string() }),
});

const budgetExceeded = defineEvent({
  type: 'budget_exceeded',
  owners: ['orchestrator'],
  version: 1,
  description: 'What would start next does not fit into what is left: open runs end, nothing new starts.',
  data: z.object({
    /** The root: money and tokens are the lineage's. */
    ...taskRef,
    kind: z.enum(['money', 'tokens']),
    limit: z.int().nonnegative(),
    /** Reported, and given up without a report. */
    spent: z.int().nonnegative(),
    /** Of what is under way. */
    reserved: z.int().nonnegative(),
    /** What the next run or request would have reserved. */
    asked: z.int().positive(),
  }),
});

const budgetExtended = defineEvent({
  type: 'budget_extended',
  owners: ['orchestrator'],
  version: 1,
  description: 'A human gave more: new absolute limits, of the lineage for what the lineage shares, else of the unit.',
  data: z.object({
    /** The unit. */
    ...taskRef,
    handoff: z.string().nullable(),
    /** Only what changes. */
    bounds: boundsSchema.partial(),
    /** ISO; null: as it was. */
    deadline_at: z.string().nullable(),
  }),
});

const runAccounted = defineEvent({
  type: 'run_accounted',
  owners: ['orchestrator'],
  version: 1,
  description: 'What a run, or the council, reported to have spent takes the place of what was reserved for it.',
  data: z.object({
    ...taskRef,
    /** Null for a request to the council. */
    run: z.int().positive().nullable(),
    request: z.int().positive().nullable(),
    spent: moneySchema,
    /** Of the lineage after it; never falls. */
    total: moneySchema,
  }),
});

export const budgetEvents = [taskCancelled, taskAbandoned, budgetExceeded, budgetExtended, runAccounted] as const;

import { z } from 'zod';
import { inputNameSchema, nodeSpecSchema, partSpecSchema } from '../documents/task.ts';
import { jsonSchema } from '../json.ts';
import { convenedToVersion2, decidedToVersion2 } from './council-upcasts.ts';
import { defineEvent, taskRef } from './define.ts';
import { faultClassSchema } from './executor-events.ts';

const requestRef = { ...taskRef, request: z.int().positive() };

/** One child to be, as the council says it. */
export const sliceSchema = z.object({
  name: z.string().min(1),
  goal: z.string().min(1),
  /** Globs of the workspace that it may touch; empty: unsaid. */
  paths: z.array(z.string()),
  nodes: z.array(nodeSpecSchema).min(1),
  inputs: z.record(inputNameSchema, jsonSchema),
  /** It lands what already works, and nothing else. */
  salvage: z.boolean(),
  /** How it may be cut itself, should it stall. */
  parts: z.array(partSpecSchema),
});
export type Slice = z.infer<typeof sliceSchema>;

export const confidenceSchema = z.enum(['high', 'medium', 'low']);
export type Confidence = z.infer<typeof confidenceSchema>;

/** What was used for an answer; absolute within the request. */
const spentSchema = z.object({
  duration_ms: z.int().nonnegative(),
  money_micros: z.int().nonnegative(),
  tokens: z.int().nonnegative(),
});
export type CouncilSpent = z.infer<typeof spentSchema>;

/** The pair of proposal and review is asked once, and once more when the first answer was in doubt. */
const attempt = z.int().min(1).max(2);

const councilConvened = defineEvent({
  type: 'council_convened',
  owners: ['decomposer'],
  version: 2,
  upcasts: [convenedToVersion2],
  description: 'A decomposition request was taken up.',
  data: z.object({
    ...requestRef,
    /** Who is asked: `structural`, or the name of a model. Null without a council. */
    adapter: z.string().nullable(),
    /** Documents of the workspace that are shown to the council. */
    documents: z.array(z.string()),
  }),
});

const slicingProposed = defineEvent({
  type: 'slicing_proposed',
  owners: ['decomposer'],
  version: 1,
  description: 'The direction of the council: how the unit could be cut, or that it can not. Not decided yet.',
  data: z.object({
    ...requestRef,
    attempt,
    /** Empty: it sees no way to cut. */
    slices: z.array(sliceSchema),
    /** The lens that the slices come from; null without any. */
    lens: z.string().nullable(),
    reasoning: z.string(),
    confidence: confidenceSchema,
    /** What deterministic checks object to. With any of these nobody reviews it. */
    objections: z.array(z.string()),
    spent: spentSchema,
  }),
});

const splitReviewed = defineEvent({
  type: 'split_reviewed',
  owners: ['decomposer'],
  version: 1,
  description:
    'The adversarial review of a proposal, by somebody who saw the slices and not the reasoning behind them.',
  data: z.object({
    ...requestRef,
    attempt,
    verdict: z.enum(['approve', 'reject', 'revise']),
    confidence: confidenceSchema,
    reasons: z.array(z.string()),
    spent: spentSchema,
  }),
});

const decided = {
  ...requestRef,
  /** One sentence for people. */
  reason: z.string(),
  confidence: confidenceSchema,
  /** Null without a council. */
  adapter: z.string().nullable(),
  spent: spentSchema,
};

const splitDecided = defineEvent({
  type: 'split_decided',
  owners: ['decomposer'],
  version: 2,
  upcasts: [decidedToVersion2],
  description: 'Split or not, and why.',
  data: z.discriminatedUnion('should_decompose', [
    z.object({ ...decided, should_decompose: z.literal(false) }),
    z.object({ ...decided, should_decompose: z.literal(true), slices: z.array(sliceSchema).min(2).max(6) }),
  ]),
});

const councilFaulted = defineEvent({
  type: 'council_faulted',
  owners: ['decomposer'],
  version: 1,
  description:
    'The council could not be asked, or its answer can not be read: machinery, and no answer about the unit.',
  data: z.object({
    ...requestRef,
    class: faultClassSchema,
    /** Asked anew no earlier than this, ms; 0: whatever the back-off of the class is. */
    retry_after_ms: z.int().nonnegative(),
    detail: z.string(),
    spent: spentSchema,
    /** Whose machinery failed, as `git.HOST` or `model.NAME`; null or left out: ours, or nobody can tell. */
    provider: z.string().nullable().optional(),
  }),
});

export const decomposerEvents = [
  councilConvened,
  slicingProposed,
  splitReviewed,
  splitDecided,
  councilFaulted,
] as const;

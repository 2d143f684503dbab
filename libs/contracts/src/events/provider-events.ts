import { z } from 'zod';
import { defineEvent } from './define.ts';
import { faultClassSchema } from './executor-events.ts';

/** Classes of faults that speak of a provider: it can not be reached, wants to be left alone, or refuses our key. */
export const providerFaultClassSchema = faultClassSchema.extract(['network', 'rate_limit', 'provider_auth']);
export type ProviderFaultClass = z.infer<typeof providerFaultClassSchema>;

/** A run of some lineage. */
export const askingRunSchema = z.object({ root: z.string(), task: z.string(), run: z.int().positive() });
export type AskingRun = z.infer<typeof askingRunSchema>;

/** `git.HOST` or `model.NAME`. */
const provider = z.string();

const providerFaulted = defineEvent({
  type: 'provider_faulted',
  owners: ['orchestrator'],
  version: 1,
  description: 'A run met a fault of a provider that is not paused. Several within a minute make a storm.',
  data: z.object({
    provider,
    class: providerFaultClassSchema,
    seen_by: askingRunSchema,
    detail: z.string(),
    faulted_at: z.string(),
  }),
});

export const pauseReasonSchema = z.enum([
  /** Several lineages met faults of one class. */
  'storm',
  /** A fault soon after it was asked again. */
  'relapse',
  /** The probe met a fault, too, or could not be begun. */
  'probe_failed',
  /** It named a later time itself. */
  'retry_after',
  'refused_key',
]);

const providerPaused = defineEvent({
  type: 'provider_paused',
  owners: ['orchestrator'],
  version: 1,
  description:
    'Nothing that needs the provider starts: what needs it waits in the queue. Absolute: replaces an earlier pause.',
  data: z.object({
    provider,
    class: providerFaultClassSchema,
    reason: pauseReasonSchema,
    /** Pauses in a row; 1 for the first. */
    count: z.int().positive(),
    /** When one run may probe it; null: when a human says so. That is the one handoff of the provider. */
    until: z.string().nullable(),
    /** When the first of these pauses began. */
    since: z.string(),
    detail: z.string(),
    paused_at: z.string(),
  }),
});

const providerProbed = defineEvent({
  type: 'provider_probed',
  owners: ['orchestrator'],
  version: 1,
  description: 'One run may ask the paused provider; how it ends decides for all others.',
  data: z.object({ provider, probe: askingRunSchema, probed_at: z.string() }),
});

const providerResumed = defineEvent({
  type: 'provider_resumed',
  owners: ['orchestrator'],
  version: 1,
  description: 'The probe met no fault of the provider: all that wait for it go on.',
  data: z.object({
    provider,
    probe: askingRunSchema,
    /** Pauses that it took. */
    count: z.int().nonnegative(),
    since: z.string(),
    resumed_at: z.string(),
  }),
});

const providerRetryAsked = defineEvent({
  type: 'provider_retry_asked',
  owners: ['orchestrator'],
  version: 1,
  description: 'A human wants the paused provider asked now: one run probes it, and pauses are counted anew.',
  data: z.object({ provider, reason: z.string(), asked_at: z.string() }),
});

export const providerEvents = [
  providerFaulted,
  providerPaused,
  providerProbed,
  providerResumed,
  providerRetryAsked,
] as const;

import { z } from 'zod';
import { askingRunSchema, pauseReasonSchema, providerFaultClassSchema } from '../events/provider-events.ts';

/** `human`: paused until somebody says that it may be tried. */
export const providerStatusSchema = z.enum(['open', 'paused', 'probing', 'human']);

/** Body of `POST /v1/providers/{provider}/resume`. */
export const resumeProviderSchema = z.strictObject({ reason: z.string().max(2_000).default('') });
export type ResumeProvider = z.infer<typeof resumeProviderSchema>;

export const resumedProviderSchema = z.object({
  provider: z.string(),
  /** False when it is not paused, or is being probed already. */
  changed: z.boolean(),
  /** Give it to a read as `after` to see this write; null when nothing was written. */
  cursor: z.string().nullable(),
});
export type ResumedProvider = z.infer<typeof resumedProviderSchema>;

/** A model or host that some run met a fault of. */
export const providerSchema = z.object({
  /** `git.HOST` or `model.NAME`. */
  provider: z.string(),
  status: providerStatusSchema,
  /** Of the newest fault. */
  class: providerFaultClassSchema,
  detail: z.string(),
  /** Of the newest pause; null when it was never paused. */
  reason: pauseReasonSchema.nullable(),
  /** Pauses in a row, as far as the newest one; 0 when it was never paused. */
  count: z.int().nonnegative(),
  /** When the first of these pauses began. */
  since: z.iso.datetime().nullable(),
  /** When one run may probe it; null when it is not paused, or when a human says so. */
  paused_until: z.iso.datetime().nullable(),
  /** The run that asks it now. */
  probe: askingRunSchema.nullable(),
  /** Who last said that it may be tried. */
  asked_by: z.string().nullable(),
  seen_at: z.iso.datetime(),
  changed_at: z.iso.datetime(),
  cursor: z.string(),
});
export type ProviderState = z.infer<typeof providerSchema>;

export const providerPageSchema = z.object({ items: z.array(providerSchema), next: z.string().nullable() });
export type ProviderPage = z.infer<typeof providerPageSchema>;

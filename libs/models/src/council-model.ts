import type { EventNamed } from '@fixpoint/contracts/events/catalogue';
import { confidenceSchema, type Slice, sliceSchema } from '@fixpoint/contracts/events/decomposer-events';
import type { FaultClass } from '@fixpoint/contracts/events/executor-events';
import type { Finding } from '@fixpoint/contracts/verdict';
import { z } from 'zod';

export type CouncilRequest = EventNamed<'decomposition_requested'>['data'];

/** A decision record or note of the workspace that mentions a touched file; the beginning of its text. */
export interface CouncilDocument {
  readonly path: string;
  readonly text: string;
}

/** Everything that the direction may look at. */
export interface CouncilQuestion {
  readonly request: CouncilRequest;
  /** Files that differ between what was accepted and where the unit's last run ended. */
  readonly changed: readonly string[];
  /** That difference; null when there is none, or it is too large. */
  readonly patch: string | null;
  readonly findings: readonly Finding[];
  /** What the stalled run said for itself. */
  readonly detail: string;
  readonly documents: readonly CouncilDocument[];
  /** What was objected to in the first proposal; empty when this is the first. */
  readonly objections: readonly string[];
}

/** What the review may look at: the slices, and nothing of the reasoning behind them. */
export interface ReviewQuestion {
  readonly request: CouncilRequest;
  readonly slices: readonly Slice[];
}

export const directionSchema = z.object({
  /** Empty: it sees no way to cut. */
  slices: z.array(sliceSchema).max(20),
  lens: z.string().max(100).nullable(),
  reasoning: z.string().max(4000),
  confidence: confidenceSchema,
});
export type Direction = z.infer<typeof directionSchema>;

export const reviewSchema = z.object({
  verdict: z.enum(['approve', 'reject', 'revise']),
  confidence: confidenceSchema,
  reasons: z.array(z.string().max(1000)).max(20),
});
export type Review = z.infer<typeof reviewSchema>;

/** An answer as it came: whoever asked parses it, and what can not be read is no answer. */
export interface CouncilAnswer {
  readonly said: unknown;
  readonly spent: { readonly money_micros: number; readonly tokens: number };
}

const NOTHING = { money_micros: 0, tokens: 0 };

interface FaultDetails {
  readonly retryAfterMs?: number;
  readonly spent?: CouncilAnswer['spent'];
  readonly provider?: string | null;
}

/** The council could not be asked: says nothing about the unit. */
export class CouncilFault extends Error {
  override readonly name = 'CouncilFault';
  readonly faultClass: FaultClass;
  readonly retryAfterMs: number;
  /** By the questions that were answered before it. */
  readonly spent: CouncilAnswer['spent'];
  /** Whose it is, as `model.NAME`; null where nobody outside was asked. */
  readonly provider: string | null;

  constructor(
    faultClass: FaultClass,
    message: string,
    { retryAfterMs = 0, spent = NOTHING, provider = null }: FaultDetails = {},
  ) {
    super(message);
    this.faultClass = faultClass;
    this.retryAfterMs = retryAfterMs;
    this.spent = spent;
    this.provider = provider;
  }
}

/**
 * Proposes how a stalled unit could be cut, and reviews proposals. Changes nothing. Adapters pass `council-model.contract.ts`.
 * @throws {CouncilFault} from both when the machinery fails.
 */
export interface CouncilModel {
  readonly name: string;
  direction(question: CouncilQuestion, signal: AbortSignal): Promise<CouncilAnswer>;
  /** Adversarial: looks for a reason why the slices would not do. */
  review(question: ReviewQuestion, signal: AbortSignal): Promise<CouncilAnswer>;
}

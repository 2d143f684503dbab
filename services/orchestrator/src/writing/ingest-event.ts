import { sha256 } from '@fixpoint/contracts/content-hash';
import { type EventHeaders, eventInOnePiece } from '@fixpoint/contracts/ingested-event';
import { ingestedEventSchema } from '@fixpoint/contracts/rest/escalations';
import type { BatchResult } from '@fixpoint/contracts/rest/tasks';
import type { z } from 'zod';
import { type EscalateDeps, escalate, type Sender } from './escalate.ts';

export interface SentEvent {
  readonly headers: EventHeaders;
  /** As JSON was parsed. */
  readonly body: unknown;
}

export type Ingested = BatchResult | { readonly outcome: 'no_event'; readonly issues: z.ZodError['issues'] };

/**
 * Hands over the work that an event tells of. Sent again, an event is the same event, whether its sender thought of a key or
 * not.
 * @throws {AttributeInvalid}
 */
export const ingestEvent = async (deps: EscalateDeps, sent: SentEvent, sender: Sender): Promise<Ingested> => {
  const parsed = ingestedEventSchema.safeParse(eventInOnePiece(sent.headers, sent.body));
  if (!parsed.success) return { outcome: 'no_event', issues: parsed.error.issues };
  const { id, source, data } = parsed.data;
  const key = data.idempotency_key ?? sha256(JSON.stringify([source, id]));
  // Work without a task says nowhere else where it belongs.
  const project = data.project ?? (data.task === undefined ? sender.project : undefined);
  const work = { ...data, idempotency_key: key, ...(project !== undefined && { project }) };
  return escalate(deps, work, sender);
};

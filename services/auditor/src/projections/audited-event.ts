import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import type { FixpointEvent } from '@fixpoint/contracts/events/catalogue';
import { parseEvent, UnreadableEvent } from '@fixpoint/contracts/events/parse-event';

/** A stored event and what it says; `fact` is null when this build cannot read it, which changes nothing but counts. */
export interface AuditedEvent {
  readonly event: RecordedEvent;
  readonly fact: FixpointEvent | null;
}

/** Reads an event once for all projections. Types, versions and data that this build does not know are no fault. */
export const audited = (event: RecordedEvent): AuditedEvent => {
  try {
    return { event, fact: parseEvent(event) };
  } catch (error) {
    if (error instanceof UnreadableEvent) return { event, fact: null };
    throw error;
  }
};

/** The lineage that an event belongs to or, for a dead letter, concerns; the stream's name for events outside any. */
export const lineageOf = ({ event, fact }: AuditedEvent): string => {
  switch (fact?.type) {
    case 'dead_lettered':
    case 'dead_letter_replayed':
    case 'dead_letter_discarded':
      return fact.data.root ?? event.root;
    default:
      return event.root;
  }
};

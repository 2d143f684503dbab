import type { FixpointEvent } from '@fixpoint/contracts/events/catalogue';
import { oneLine } from './printable.ts';

const DETAIL = 100;

/** What becomes of a request to a human, as a line; null for every other event. */
export const humanLine = (event: FixpointEvent): string | null => {
  switch (event.type) {
    case 'human_decided':
      return `${event.data.address}: ${event.data.actor} decided: ${event.data.decision.kind}`;
    case 'handoff_claimed':
      return `${event.data.address}: ${event.data.by} looks after it until ${event.data.until}`;
    case 'handoff_warned':
      return `${event.data.address}: nobody has decided yet; the request ends ${event.data.expires_at}`;
    case 'handoff_expired':
      return `${event.data.address}: nobody decided in time: ${event.data.outcome} (${oneLine(event.data.reason, DETAIL)})`;
    default:
      return null;
  }
};

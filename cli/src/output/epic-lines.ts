import type { FixpointEvent } from '@fixpoint/contracts/events/catalogue';
import { oneLine } from './printable.ts';

const NAME = 60;
const DETAIL = 160;

/** What an event of a split means for somebody who watches; null for every other event. */
export const epicLine = (event: FixpointEvent): string | null => {
  switch (event.type) {
    case 'epic_opened': {
      const names = event.data.children.map(({ address, name }) => `${address} ${oneLine(name, NAME)}`);
      return `${event.data.address}: split into ${names.join(', ')}`;
    }
    case 'child_submitted':
      return `${event.data.address}: submitted ${event.data.child.address} ${oneLine(event.data.child.name, NAME)}`;
    case 'epic_child_resolved':
      return `${event.data.address}: a child is in (${event.data.child}), ${event.data.left} left`;
    case 'child_excluded':
      return `${event.data.address}: goes on without ${event.data.child}: ${oneLine(event.data.reason, DETAIL)}`;
    case 'integration_failed': {
      const { address, conflicts, limit, paths, detail } = event.data;
      const where = paths.length === 0 ? oneLine(detail, DETAIL) : oneLine(paths.join(', '), DETAIL);
      return `${address}: could not be merged (${conflicts} of ${limit}): ${where}`;
    }
    case 'split_refused':
      return `${event.data.address}: the split is not made (${event.data.reason})${event.data.asked_again ? '; the council is asked once more' : ''}`;
    default:
      return assemblyLine(event);
  }
};

const assemblyLine = (event: FixpointEvent): string | null => {
  switch (event.type) {
    case 'recompose_started':
      return `${event.data.address}: all children are in; assembling, attempt ${event.data.attempt}`;
    case 'recompose_failed': {
      const { address, attempt, limit, reason, next_at } = event.data;
      const then = next_at === null ? 'waits for a human' : `again at ${next_at}`;
      return `${address}: the assembly failed (${attempt} of ${limit}: ${oneLine(reason, DETAIL)}); ${then}`;
    }
    case 'epic_closed':
      return `${event.data.address}: closed over ${event.data.children} children by ${event.data.by}`;
    case 'affinity_changed':
      return `${event.data.address}: rank ${event.data.from} becomes ${event.data.to} (${event.data.reason})`;
    default:
      return null;
  }
};

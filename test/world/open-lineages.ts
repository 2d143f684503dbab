import { CURSOR_START, type RecordedEvent } from '@fixpoint/contracts/envelope';
import type { EventStore } from '@fixpoint/event-store/event-store';

const PAGE = 1_000;

/** Follows the log; answers with the roots that have neither ended nor wait for a human. */
export const openLineages = (store: Pick<EventStore, 'readAll'>): (() => Promise<readonly string[]>) => {
  const open = new Set<string>();
  let cursor = CURSOR_START;
  return async () => {
    for (let page = await store.readAll(cursor, PAGE); page.events.length > 0; ) {
      for (const event of page.events) note(open, event);
      cursor = page.next;
      page = await store.readAll(cursor, PAGE);
    }
    return [...open];
  };
};

const note = (open: Set<string>, { type, root, data }: RecordedEvent): void => {
  if (type === 'task_submitted') open.add(root);
  const task = typeof data === 'object' && data !== null && 'task' in data ? data.task : null;
  const isEnd = (type === 'task_completed' || type === 'task_blocked') && task === root;
  if (isEnd || type === 'human_required') open.delete(root);
};

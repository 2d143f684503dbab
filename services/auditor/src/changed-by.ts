import type { Changes } from '@fixpoint/event-store/changes';
import type { EventStore } from '@fixpoint/event-store/event-store';

/** Waits for news of the store, which are also what the bus says that other processes have published. */
export const changedBy =
  (published: Changes, store: Pick<EventStore, 'changed'>): EventStore['changed'] =>
  async (timeoutMs, signal) => {
    const first = new AbortController();
    const either = AbortSignal.any([signal, first.signal]);
    await Promise.race([store.changed(timeoutMs, either), published.next(timeoutMs, either)]);
    first.abort();
  };

import { eventStoreContract } from './event-store.contract.ts';
import { MemoryEventStore } from './memory-event-store.ts';

eventStoreContract('memory', () => {
  const store = new MemoryEventStore({ types: ['task_submitted', 'node_ready'] });
  return Promise.resolve({ store, other: store, close: () => Promise.resolve() });
});

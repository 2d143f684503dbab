import { MemoryEventStore } from '@fixpoint/event-store/memory-event-store';
import { simulatedClock } from '@fixpoint/testing/simulated-clock';
import { memoryWaits } from '../waits/memory-waits.ts';
import { memoryQueue } from './memory-queue.ts';
import { queueContract } from './queue.contract.ts';

queueContract('the queue in memory', async () => {
  const clock = simulatedClock();
  const store = new MemoryEventStore();
  const waits = memoryWaits(store, clock);
  const queue = memoryQueue(waits, clock);
  return { store, clock, waits, queues: [queue, queue] };
});

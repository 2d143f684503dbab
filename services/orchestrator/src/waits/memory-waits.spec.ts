import { MemoryEventStore } from '@fixpoint/event-store/memory-event-store';
import { simulatedClock } from '@fixpoint/testing/simulated-clock';
import { memoryWaits } from './memory-waits.ts';
import { waitsContract } from './waits.contract.ts';

waitsContract('waits in memory', async () => {
  const clock = simulatedClock();
  const store = new MemoryEventStore();
  const waits = memoryWaits(store, clock);
  return { store, clock, waits: [waits, waits] };
});

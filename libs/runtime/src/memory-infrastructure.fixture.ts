import type { Artifacts } from '@fixpoint/event-store/artifacts';
import { MemoryEventStore } from '@fixpoint/event-store/memory-event-store';
import { memoryBus } from '@fixpoint/messaging/memory-bus';
import type { Infrastructure } from './infrastructure.ts';
import { silentLog } from './log.ts';
import { systemClock } from './system-clock.ts';
import { systemIds } from './system-ids.ts';

const noArtifacts: Artifacts = {
  put: () => Promise.reject(new Error('no artifacts here')),
  get: () => Promise.resolve(null),
};

/** Everything in memory, on the real clock. */
export const memoryInfrastructure = (release: () => Promise<void> = async () => undefined): Infrastructure => ({
  store: new MemoryEventStore(),
  bus: memoryBus({ clock: systemClock, report: () => undefined }),
  artifacts: noArtifacts,
  clock: systemClock,
  ids: systemIds,
  pool: null,
  log: silentLog,
  release,
});

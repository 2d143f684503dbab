import { sha256 } from '@fixpoint/contracts/content-hash';
import { MemoryEventStore } from '@fixpoint/event-store/memory-event-store';
import { memoryBus } from '@fixpoint/messaging/memory-bus';
import { infrastructureModule } from '@fixpoint/runtime/infrastructure';
import { silentLog } from '@fixpoint/runtime/log';
import { type Running, start } from '@fixpoint/runtime/start';
import { systemClock } from '@fixpoint/runtime/system-clock';
import { systemIds } from '@fixpoint/runtime/system-ids';
import { orchestratorModule } from '../orchestrator.module.ts';

/** An orchestrator over HTTP on an empty store. @param roles each has a key of its own name; none: no keys are asked for. */
export const servedOrchestrator = async (
  roles: readonly ('reader' | 'writer' | 'admin')[] = [],
): Promise<{ readonly running: Running; readonly store: MemoryEventStore }> => {
  const store = new MemoryEventStore();
  const infrastructure = infrastructureModule({
    ...{ store, clock: systemClock, ids: systemIds, pool: null, log: silentLog },
    bus: memoryBus({ clock: systemClock, report: () => undefined }),
    artifacts: { put: () => Promise.reject(new Error('none here')), get: () => Promise.resolve(null) },
    release: () => Promise.resolve(),
  });
  const apiKeys = roles.map((role) => ({ name: role, role, sha256: sha256(role) }));
  const http = { host: '127.0.0.1', port: 0, apiKeys };
  return {
    store,
    running: await start([orchestratorModule(infrastructure)], { http, log: silentLog, drainMs: 1_000 }),
  };
};

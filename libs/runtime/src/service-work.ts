import { join } from 'node:path';
import type { Clock, Ids } from '@fixpoint/contracts/clock';
import type { EventStore } from '@fixpoint/event-store/event-store';
import { type MirrorSettings, mirrorSweeps } from '@fixpoint/execution/mirror-sweep';
import { endedTasks } from '@fixpoint/messaging/ended-tasks';
import type { Leases } from '@fixpoint/messaging/lease';
import { memoryLeases } from '@fixpoint/messaging/memory-leases';
import { type OwnedWork, ownedWork } from '@fixpoint/messaging/owned-work';
import { postgresLeases } from '@fixpoint/messaging/postgres-leases';
import type { Infrastructure } from './infrastructure.ts';
import type { Log } from './log.ts';
import { loop } from './loop.ts';

interface Place {
  readonly pool: Infrastructure['pool'];
  readonly clock: Clock;
}

/** The leases of a service: rows in its schema, or of this process where there is no database. */
export const leasesOf = (service: string, { pool, clock }: Place): Leases =>
  pool === null ? memoryLeases(clock) : postgresLeases(pool, service);

interface WorkPlace extends Place {
  readonly store: EventStore;
  readonly ids: Ids;
}

/** The questions that one process of a service works on, each under a lease. @param concurrency of them at a time. */
export const leasedWork = (service: string, place: WorkPlace, concurrency: number): OwnedWork =>
  ownedWork({
    leases: leasesOf(service, place),
    clock: place.clock,
    owner: `${service}-${place.ids.uuid()}`,
    hasEnded: endedTasks(place.store),
    concurrency,
  });

/** Removes repositories from the cache of a service that nobody has used for long. @param folder of the service. */
export const mirrorsLoop = (
  service: string,
  config: MirrorSettings & { readonly folder: string },
  { clock, log }: { readonly clock: Clock; readonly log: Log },
) => {
  const report = (err: unknown, mirror: string): void =>
    log.warn({ err, mirror }, 'a cached repository can not be read');
  const sweeps = mirrorSweeps(join(config.folder, 'workspaces'), config, { clock, report });
  return loop(`${service}__mirrors`, sweeps, { clock, log });
};

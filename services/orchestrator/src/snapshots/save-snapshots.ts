import type { Clock } from '@fixpoint/contracts/clock';
import type { EventStore } from '@fixpoint/event-store/event-store';
import type { SnapshotQueue, Snapshots } from '@fixpoint/event-store/snapshots';
import type { Lineage } from '../domain/lineage/state.ts';

export const SNAPSHOTS = 'orchestrator__snapshots';

export interface SaveSnapshotsDeps {
  readonly states: SnapshotQueue<Lineage>;
  readonly store: Pick<EventStore, 'readStream'>;
  readonly snapshots: Snapshots<Lineage> | null;
  readonly clock: Pick<Clock, 'sleep'>;
}

const EVERY_MS = 5_000;

/** One round of saving the states of long lineages, for a loop. */
export const saveSnapshots =
  ({ states, store, snapshots, clock }: SaveSnapshotsDeps) =>
  async (signal: AbortSignal): Promise<void> => {
    await clock.sleep(EVERY_MS, signal);
    if (snapshots !== null) await states.save(store, snapshots);
  };

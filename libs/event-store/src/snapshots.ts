import { LRUCache } from 'lru-cache';
import type { EventStore } from './event-store.ts';
import type { CachedState, StateCache } from './state-cache.ts';

/** A folded state as it was at a version. Only a cache: whoever uses it makes sure that it is of this very stream. */
export interface Snapshot<State> extends CachedState<State> {
  /** Hash of the event of that version. */
  readonly eventHash: string;
}

/** Where snapshots are kept. Anything in it may be lost, old or wrong. */
export interface Snapshots<State> {
  /** The newest of each stream that this code may use: of the same fold. Streams without one are missing. */
  load(streams: readonly string[]): Promise<ReadonlyMap<string, Snapshot<State>>>;
  /** Keeps it in the place of an older one. */
  save(stream: string, snapshot: Snapshot<State>): Promise<void>;
}

/** A snapshot is made when a stream has grown by so many events since its last one; shorter streams never have one. */
export const SNAPSHOT_EVERY = 500;

/** Streams whose last snapshot is remembered; of others one is made too early. */
const REMEMBERED = 1_000;

/** A cache that notes which states are due for a snapshot; saving them is somebody else's, so that no decision waits. */
export class SnapshotQueue<State> implements StateCache<State> {
  private readonly states: StateCache<State>;
  private readonly due = new Map<string, CachedState<State>>();
  private readonly savedAt = new LRUCache<string, number>({ max: REMEMBERED });

  constructor(states: StateCache<State>) {
    this.states = states;
  }

  get(stream: string): CachedState<State> | undefined {
    return this.states.get(stream);
  }

  set(stream: string, entry: CachedState<State>): void {
    this.states.set(stream, entry);
    if (entry.version < SNAPSHOT_EVERY) return;
    if (entry.version - (this.savedAt.get(stream) ?? 0) >= SNAPSHOT_EVERY) this.due.set(stream, entry);
  }

  delete(stream: string): void {
    this.states.delete(stream);
    this.due.delete(stream);
  }

  /**
   * Saves what is due. A state that is not that of its stream, because its append failed after all, is not saved.
   * @throws the store's or the snapshots' fault; what was not saved is due again when its stream grows on.
   */
  async save(store: Pick<EventStore, 'readStream'>, snapshots: Snapshots<State>): Promise<void> {
    const due = [...this.due];
    this.due.clear();
    for (const [stream, { state, version }] of due) {
      const [event] = await store.readStream(stream, version, version);
      if (event === undefined) continue;
      await snapshots.save(stream, { state, version, eventHash: event.hash });
      this.savedAt.set(stream, version);
    }
  }
}

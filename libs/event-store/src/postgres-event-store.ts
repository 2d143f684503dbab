import type { Cursor, RecordedEvent } from '@fixpoint/contracts/envelope';
import type { Pool } from 'pg';
import { AppendWriter } from './append-writer.ts';
import { Changes } from './changes.ts';
import { EventReader } from './event-reader.ts';
import type { Append, AppendOutcome, EventStore, Page } from './event-store.ts';
import { GroupCommit } from './group-commit.ts';
import { addressOf, postgresFault } from './postgres-fault.ts';
import type { ServerGuard, StoreIdentity } from './server-identity.ts';
import { assertUsable } from './store-guard.ts';
import { type StorePoolOptions, storePool } from './store-pool.ts';
import { storedAppend } from './stored-event.ts';
import type { Watermark } from './watermark.ts';

export interface PostgresEventStoreOptions extends StorePoolOptions {
  /** Connections that write; few with big batches beat many with small ones. Default 2. */
  readonly lanes?: number;
  /** Connections that read. Default 3. */
  readonly readers?: number;
}

/** The highest that the column holds. */
const LAST_VERSION = 2_147_483_647;

/** The event store of production. Connects when first used, reconnects by itself; close it when done. */
export class PostgresEventStore implements EventStore {
  private readonly writes: Pool;
  private readonly reads: Pool;
  private readonly commits: GroupCommit;
  private readonly reader: EventReader;
  private readonly changes = new Changes();
  private readonly address: string;
  private readonly guard: ServerGuard | null;

  constructor(options: PostgresEventStoreOptions) {
    const lanes = options.lanes ?? 2;
    this.address = addressOf(options.url);
    this.guard = options.guard ?? null;
    this.writes = storePool(options, lanes);
    this.reads = storePool(options, options.readers ?? 3);
    const writer = new AppendWriter(this.writes, this.address);
    this.commits = new GroupCommit((batch) => writer.write(batch), lanes);
    this.reader = new EventReader(this.reads, this.address);
  }

  /**
   * To be called once at start, before anything is appended or read. From then on the guard, if there is one, refuses
   * connections to any other server or epoch.
   * @param patienceMs how long to wait for a server that is down or starting.
   * @returns the server and the epoch that this process works on.
   * @throws when the server cannot be reached, the database is not migrated, or it was restored from elsewhere.
   */
  async assertUsable(patienceMs: number): Promise<StoreIdentity> {
    try {
      const identity = await assertUsable(this.reads, patienceMs);
      this.guard?.begin(identity);
      return identity;
    } catch (error) {
      throw postgresFault(this.address, error);
    }
  }

  append(append: Append): Promise<AppendOutcome> {
    const stored = storedAppend(append);
    if ('outcome' in stored) return Promise.resolve(stored);
    return new Promise((resolve, reject) => {
      const settle = (outcome: AppendOutcome): void => {
        resolve(outcome);
        if (outcome.outcome === 'appended') this.changes.announce();
      };
      this.commits.add({ stored, settle, fail: reject });
    });
  }

  appendAll(appends: readonly Append[]): Promise<readonly AppendOutcome[]> {
    return Promise.all(appends.map((append) => this.append(append)));
  }

  async readStream(stream: string, fromVersion = 1, toVersion = LAST_VERSION): Promise<readonly RecordedEvent[]> {
    return (await this.reader.streams([stream], fromVersion, toVersion)).get(stream) ?? [];
  }

  readStreams(
    streams: readonly string[],
    toVersion = LAST_VERSION,
  ): Promise<ReadonlyMap<string, readonly RecordedEvent[]>> {
    return this.reader.streams(streams, 1, toVersion);
  }

  find(id: string): Promise<RecordedEvent | null> {
    return this.reader.find(id);
  }

  readAll(after: Cursor, limit: number): Promise<Page> {
    return this.reader.all(after, limit);
  }

  watermark(): Promise<Watermark> {
    return this.reader.watermark();
  }

  changed(timeoutMs: number, signal: AbortSignal): Promise<void> {
    return this.changes.next(timeoutMs, signal);
  }

  /** Waits for statements in hand, then closes every connection. */
  async close(): Promise<void> {
    await Promise.all([this.writes.end(), this.reads.end()]);
  }
}

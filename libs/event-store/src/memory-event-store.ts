import type { Cursor, RecordedEvent } from '@fixpoint/contracts/envelope';
import { CURSOR_START, compareCursors } from '@fixpoint/contracts/envelope';
import { currentEvent } from '@fixpoint/contracts/events/current-event';
import { Changes } from './changes.ts';
import type { Append, AppendOutcome, EventStore, Page } from './event-store.ts';
import { rejected, type StoredAppend, storedAppend } from './stored-event.ts';
import type { Watermark } from './watermark.ts';

const PAGE_BYTES = 4 * 1024 * 1024;

export interface MemoryEventStoreOptions {
  /** Types that may be appended; null for any. */
  readonly types: readonly string[] | null;
}

/** Keeps events in this process, for tests, the simulator and nothing else: it ends with the process. */
export class MemoryEventStore implements EventStore {
  private readonly types: ReadonlySet<string> | null;
  private readonly streams = new Map<string, RecordedEvent[]>();
  private readonly log: { readonly event: RecordedEvent; readonly bytes: number }[] = [];
  private readonly ids = new Set<string>();
  private readonly changes = new Changes();
  private transactions = 0;

  constructor(options: MemoryEventStoreOptions = { types: null }) {
    this.types = options.types === null ? null : new Set(options.types);
  }

  append(append: Append): Promise<AppendOutcome> {
    return Promise.resolve(this.appendNow(append));
  }

  appendAll(appends: readonly Append[]): Promise<readonly AppendOutcome[]> {
    return Promise.resolve(appends.map((append) => this.appendNow(append)));
  }

  readStream(stream: string, fromVersion = 1, toVersion = Infinity): Promise<readonly RecordedEvent[]> {
    return Promise.resolve((this.streams.get(stream) ?? []).slice(fromVersion - 1, toVersion));
  }

  async readStreams(
    streams: readonly string[],
    toVersion = Infinity,
  ): Promise<ReadonlyMap<string, readonly RecordedEvent[]>> {
    const read = await Promise.all(
      streams.map(async (stream) => [stream, await this.readStream(stream, 1, toVersion)] as const),
    );
    return new Map(read);
  }

  find(id: string): Promise<RecordedEvent | null> {
    return Promise.resolve(this.log.find(({ event }) => event.id === id)?.event ?? null);
  }

  readAll(after: Cursor, limit: number): Promise<Page> {
    const events: RecordedEvent[] = [];
    let bytes = 0;
    for (const entry of this.log.slice(this.indexAfter(after))) {
      if (events.length === limit || (bytes > 0 && bytes + entry.bytes > PAGE_BYTES)) break;
      bytes += entry.bytes;
      events.push(entry.event);
    }
    return Promise.resolve({ events, next: events.at(-1)?.cursor ?? after });
  }

  watermark(): Promise<Watermark> {
    const newest = this.log.at(-1)?.event.cursor ?? CURSOR_START;
    return Promise.resolve({ visible: newest, newest, ageMs: 0, holder: null });
  }

  changed(timeoutMs: number, signal: AbortSignal): Promise<void> {
    return this.changes.next(timeoutMs, signal);
  }

  private indexAfter(after: Cursor): number {
    let low = 0;
    let high = this.log.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const cursor = this.log[middle]?.event.cursor ?? after;
      if (compareCursors(cursor, after) > 0) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  private appendNow(append: Append): AppendOutcome {
    const stored = storedAppend(append);
    if ('outcome' in stored) return stored;
    if ((this.streams.get(append.stream)?.length ?? 0) !== append.expectedVersion) return { outcome: 'conflict' };
    return this.refusal(stored) ?? { outcome: 'appended', events: this.record(stored) };
  }

  private refusal({ append }: StoredAppend): AppendOutcome | null {
    const ids = new Set<string>();
    for (const { id, type } of append.events) {
      if (this.types !== null && !this.types.has(type))
        return rejected('type_not_allowed', `${type} on ${append.stream}`);
      if (this.ids.has(id) || ids.has(id)) return rejected('duplicate_event_id', id);
      ids.add(id);
    }
    return null;
  }

  private record({ append, events }: StoredAppend): readonly RecordedEvent[] {
    this.transactions += 1;
    const stream = this.streams.get(append.stream) ?? [];
    this.streams.set(append.stream, stream);
    const recorded = events.map(({ event, version, data, hash, bytes }): RecordedEvent => {
      const cursor: Cursor = { epoch: 1, xid: String(this.transactions), position: String(this.log.length + 1) };
      const { root, stream: name } = append;
      // The stored text is parsed so that a reader sees what Postgres would give back, and shares nothing with the writer.
      const read = currentEvent({
        ...event,
        data: JSON.parse(data),
        root,
        stream: name,
        version,
        cursor,
        hash: hash.toString('hex'),
      });
      this.ids.add(event.id);
      stream.push(read);
      this.log.push({ event: read, bytes });
      return read;
    });
    this.changes.announce();
    return recorded;
  }
}

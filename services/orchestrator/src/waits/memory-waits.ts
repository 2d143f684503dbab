import type { Clock } from '@fixpoint/contracts/clock';
import { CURSOR_START, type Cursor, type RecordedEvent } from '@fixpoint/contracts/envelope';
import type { EventStore } from '@fixpoint/event-store/event-store';
import { type ProviderRow, providerRow } from '../providers/provider-row.ts';
import { type LineageWaits, NO_WAITS, type QueuedRow, type TimerRow, type Waiting } from './wait-rows.ts';
import { CLAIM_MS, type Waits } from './waits.ts';
import { waitsAfter } from './waits-after.ts';

const PAGE = 1_000;
const POLL_MS = 100;

type Due = { readonly next_at: string | null };

const dueAt = <Row extends Due>(rows: readonly Row[], now: string, limit: number): readonly Row[] =>
  rows
    .filter(({ next_at }) => next_at !== null && next_at <= now)
    .sort((a, b) => String(a.next_at).localeCompare(String(b.next_at)))
    .slice(0, limit);

/** A simulator moves its clock to what comes next instead of asking again and again. */
export interface ForeseeableWaits extends Waits {
  /** When the next row or timer is due (ISO 8601), as far as the log was followed; null when none ever is. */
  nextDueAt(): string | null;
  /** What each lineage waits for, by root, as far as the log was followed. */
  all(): ReadonlyMap<string, LineageWaits>;
}

/** What the queue of this process looks into. */
export interface MemoryRows {
  readonly followed: Cursor;
  waiting(): readonly Waiting[];
  queued(): readonly QueuedRow[];
  providers(): readonly ProviderRow[];
  postpone(row: QueuedRow, next_at: string): void;
}

/** The rows of this process, on its own clock: for tests, the simulator, and nothing else. */
export const memoryWaits = (store: Pick<EventStore, 'readAll'>, clock: Clock): ForeseeableWaits & MemoryRows =>
  new MemoryWaits(store, clock);

class MemoryWaits implements ForeseeableWaits, MemoryRows {
  private readonly store: Pick<EventStore, 'readAll'>;
  private readonly clock: Clock;
  private readonly lineages = new Map<string, LineageWaits>();
  private readonly paused = new Map<string, ProviderRow>();
  private cursor = CURSOR_START;

  constructor(store: Pick<EventStore, 'readAll'>, clock: Clock) {
    this.store = store;
    this.clock = clock;
  }

  async keep(signal: AbortSignal): Promise<void> {
    const { events, next } = await this.store.readAll(this.cursor, PAGE);
    for (const event of events) this.follow(event);
    this.cursor = next;
    if (events.length === 0) await this.clock.sleep(POLL_MS, signal);
  }

  private follow(event: RecordedEvent): void {
    const row = providerRow(event);
    if (row === null) this.set(event.root, waitsAfter(this.of(event.root), event));
    else this.paused.set(row.provider, row);
  }

  claimWaiting(limit: number): Promise<readonly Waiting[]> {
    const rows = [...this.lineages.values()].flatMap(({ waiting }) => Object.values(waiting));
    const claimed = dueAt(rows, this.time(0), limit);
    for (const row of claimed) this.put({ ...row, next_at: this.time(CLAIM_MS) });
    return Promise.resolve(claimed);
  }

  reschedule(row: Waiting, next: Pick<Waiting, 'reoffers' | 'last_offer' | 'next_at'>): Promise<void> {
    const current = this.of(row.root).waiting[row.task];
    if (current && isSame(current, row)) this.put({ ...current, ...next });
    return Promise.resolve();
  }

  claimTimers(limit: number): Promise<readonly TimerRow[]> {
    const rows = [...this.lineages.values()].flatMap(({ timers }) => Object.values(timers));
    const claimed = dueAt(rows, this.time(0), limit);
    for (const row of claimed) this.putTimer({ ...row, next_at: this.time(CLAIM_MS) });
    return Promise.resolve(claimed);
  }

  fired({ root, id }: TimerRow): Promise<void> {
    const waits = this.of(root);
    this.set(root, {
      ...waits,
      timers: Object.fromEntries(Object.entries(waits.timers).filter(([key]) => key !== id)),
    });
    return Promise.resolve();
  }

  get followed(): Cursor {
    return this.cursor;
  }

  waiting(): readonly Waiting[] {
    return [...this.lineages.values()].flatMap(({ waiting }) => Object.values(waiting));
  }

  queued(): readonly QueuedRow[] {
    return [...this.lineages.values()].flatMap(({ queued }) => Object.values(queued));
  }

  providers(): readonly ProviderRow[] {
    return [...this.paused.values()];
  }

  postpone(row: QueuedRow, next_at: string): void {
    const waits = this.of(row.root);
    const current = waits.queued[row.task];
    if (current?.run !== row.run) return;
    this.set(row.root, { ...waits, queued: { ...waits.queued, [row.task]: { ...current, next_at } } });
  }

  nextDueAt(): string | null {
    const rows = [...this.lineages.values()].flatMap(({ waiting, timers }): Due[] => [
      ...Object.values(waiting),
      ...Object.values(timers),
    ]);
    const times = rows.flatMap(({ next_at }) => (next_at === null ? [] : [next_at]));
    return [...times, ...this.probesAt()].sort()[0] ?? null;
  }

  /** Who is due already waits for somebody who needs it, and not for time. */
  private probesAt(): string[] {
    const now = this.time(0);
    return this.providers().flatMap(({ paused_until: until }) => (until !== null && until > now ? [until] : []));
  }

  all(): ReadonlyMap<string, LineageWaits> {
    return this.lineages;
  }

  private of(root: string): LineageWaits {
    return this.lineages.get(root) ?? NO_WAITS;
  }

  private set(root: string, waits: LineageWaits): void {
    if (isEmpty(waits.waiting) && isEmpty(waits.timers) && isEmpty(waits.queued)) this.lineages.delete(root);
    else this.lineages.set(root, waits);
  }

  private put(row: Waiting): void {
    const waits = this.of(row.root);
    this.set(row.root, { ...waits, waiting: { ...waits.waiting, [row.task]: row } });
  }

  private putTimer(row: TimerRow): void {
    const waits = this.of(row.root);
    this.set(row.root, { ...waits, timers: { ...waits.timers, [row.id]: row } });
  }

  private time(inMs: number): string {
    return new Date(this.clock.now().getTime() + inMs).toISOString();
  }
}

const isEmpty = (rows: object): boolean => Object.keys(rows).length === 0;

const isSame = (a: Waiting, b: Waiting): boolean =>
  a.kind === b.kind && a.run === b.run && a.stream === b.stream && a.version === b.version && a.since === b.since;

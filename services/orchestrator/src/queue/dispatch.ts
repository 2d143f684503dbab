import type { Clock } from '@fixpoint/contracts/clock';
import { type Publisher, publicationsOf } from '@fixpoint/messaging/publisher';
import type { LineageDecision, Lineages } from '../lineages.ts';
import type { ProviderCounts } from '../providers/provider-row.ts';
import type { Providers } from '../providers/providers.ts';
import type { QueuedRow } from '../waits/wait-rows.ts';
import type { Admissions } from './admissions.ts';
import { inOrder } from './in-order.ts';
import type { Queue, Standing } from './queue.ts';

export const DISPATCH = 'orchestrator__dispatch';

export interface DispatchDeps {
  readonly queue: Queue;
  readonly admissions: Admissions;
  readonly providers: Providers;
  readonly lineages: Lineages;
  readonly publisher: Publisher;
  readonly clock: Clock;
  /** One run's trouble is told and stops no other; its turn comes again. */
  readonly report: (error: unknown, row: QueuedRow) => void;
  readonly measure: (standing: Standing) => void;
  readonly measureProviders: (counts: ProviderCounts) => void;
}

const AT_ONCE = 200;
/** Nothing waits: only what other replicas do has to be heard of. */
const EMPTY_MS = 1_000;
/** Something waits and nothing can start: rows appear and slots become free as the log is followed. */
const FULL_MS = 200;
const BUSY_MS = 20;

/** One round of the dispatcher, for a loop: what waits is started in order, as far as there is room. */
export const dispatch =
  (deps: DispatchDeps) =>
  async (signal: AbortSignal): Promise<void> => {
    const waker = new AbortController();
    const news = new AbortController();
    deps.admissions.onChange = () => waker.abort();
    deps.providers.onNews = () => news.abort();
    await deps.providers.look();
    const standing = await deps.queue.standing();
    deps.admissions.update(standing, deps.providers.paused());
    deps.measure(standing);
    deps.measureProviders(deps.providers.counts());
    const started = standing.length === 0 ? 0 : await startNext(deps);
    if (started > 0) return deps.clock.sleep(BUSY_MS, signal);
    // A word of this process cuts the wait short only while somebody waits: else every run's end would cost a look.
    const wakers = standing.length === 0 ? [signal, news.signal] : [signal, news.signal, waker.signal];
    const pause = AbortSignal.any(wakers);
    await deps.clock.sleep(standing.length === 0 ? EMPTY_MS : FULL_MS, pause);
  };

/** @returns the number of runs whose turn it was. */
const startNext = async (deps: DispatchDeps): Promise<number> => {
  const { queue, admissions, providers } = deps;
  await queue.freeSlots();
  const room = admissions.room();
  const total = Math.min(room.total, AT_ONCE);
  if (total === 0) return 0;
  const probes = providers.due();
  const paused = providers.paused().filter((name) => !probes.has(name));
  const rows = await queue.startable({ each: total, full: admissions.full(), paused });
  const next = inOrder(rows, await queue.turns(), { ...room, total, probes });
  const claimed = await queue.claim(next);
  const granted = await withSlots(queue, await withProbes(deps, claimed));
  await start(deps, granted);
  return granted.length;
};

/** One run at a time asks a provider that was paused: who is not the one goes back into the queue. */
const withProbes = async (
  { queue, providers }: DispatchDeps,
  rows: readonly QueuedRow[],
): Promise<readonly QueuedRow[]> => {
  if (providers.due().size === 0) return rows;
  const isFree = await inTurn(rows, ({ root, task, run, providers: needs }) =>
    providers.claimProbe({ root, task, run }, needs),
  );
  await queue.release(rows.filter((row) => !isFree.has(row)));
  return rows.filter((row) => isFree.has(row));
};

const inTurn = async (
  rows: readonly QueuedRow[],
  holds: (row: QueuedRow) => Promise<boolean>,
): Promise<ReadonlySet<QueuedRow>> => {
  const found = new Set<QueuedRow>();
  for (const row of rows) if (await holds(row)) found.add(row);
  return found;
};

/** The slots of a key are exact: who gets none goes back into the queue. */
const withSlots = async (queue: Queue, rows: readonly QueuedRow[]): Promise<readonly QueuedRow[]> => {
  const taken = await Promise.all(rows.map((row) => queue.takeSlot(row)));
  await queue.release(rows.filter((_, index) => !taken[index]));
  return rows.filter((_, index) => taken[index]);
};

const start = async (deps: DispatchDeps, rows: readonly QueuedRow[]): Promise<void> => {
  const prepared = await Promise.all(rows.map((row) => prepare(deps, row)));
  const ready = prepared.flatMap((each) => each ?? []);
  const outcomes = await deps.lineages.decide(
    DISPATCH,
    ready.map(({ decision }) => decision),
  );
  for (const [index, { row }] of ready.entries()) {
    const outcome = outcomes[index];
    if (outcome?.outcome === 'failed') deps.report(outcome.error, row);
    if (outcome?.outcome === 'decided') deps.publisher.publish(publicationsOf(outcome.events, null));
  }
  await deps.queue.served(ready.map(({ row }) => row.project));
};

interface Ready {
  readonly row: QueuedRow;
  readonly decision: LineageDecision;
}

const prepare = async ({ lineages, report }: DispatchDeps, row: QueuedRow): Promise<Ready | null> => {
  const { root, task, run, since: time } = row;
  const command = { type: 'start_queued', task, run } as const;
  const cause = { id: `turn:${task}:${run}`, time, actor: 'system' };
  try {
    return { row, decision: await lineages.commandFor({ root, command, cause, nodeReady: null }) };
  } catch (error) {
    report(error, row);
    return null;
  }
};

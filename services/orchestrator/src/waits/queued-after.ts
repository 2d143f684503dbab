import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { concurrencySchema, queueClassSchema, queuedForSchema } from '@fixpoint/contracts/events/queue-events';
import { z } from 'zod';
import { queueClassOf } from '../domain/lineage/queue.ts';
import type { LineageWaits, QueuedRow } from './wait-rows.ts';

const queuedSchema = z.object({
  task: z.string(),
  run: z.int().positive(),
  unit: z.string(),
  project: z.string(),
  class: queueClassSchema,
  affinity: z.int(),
  concurrency: concurrencySchema.nullable(),
  providers: z.array(z.string()),
  queued_for: queuedForSchema,
});

/** Null for an event that nobody understands. */
export const queuedRow = (event: RecordedEvent): QueuedRow | null => {
  const parsed = queuedSchema.safeParse(event.data);
  if (!parsed.success) return null;
  const { concurrency, ...said } = parsed.data;
  const at = { since: event.occurred_at, next_at: event.occurred_at };
  return { root: event.root, ...said, key: concurrency?.key ?? null, key_limit: concurrency?.limit ?? null, ...at };
};

const rankSchema = z.object({ task: z.string(), to: z.int() });

/** Whatever an event did to a task: only what still waits for its turn is in the queue, at the rank of its unit. */
export const afterInQueue = (waits: LineageWaits, event: RecordedEvent): LineageWaits => {
  const rows = Object.values(waits.queued);
  const kept = rows.filter(({ task, run }) => {
    const waiting = waits.waiting[task];
    return waiting?.kind === 'queue' && waiting.run === run;
  });
  const ranked = event.type === 'affinity_changed' ? rankSchema.safeParse(event.data) : null;
  if (kept.length === rows.length && !ranked?.success) return waits;
  const now = ranked?.success ? kept.map((row) => rankedAs(row, ranked.data)) : kept;
  return { ...waits, queued: Object.fromEntries(now.map((row) => [row.task, row])) };
};

const rankedAs = (row: QueuedRow, { task, to }: z.infer<typeof rankSchema>): QueuedRow =>
  row.unit === task ? { ...row, affinity: to, class: queueClassOf(to) } : row;

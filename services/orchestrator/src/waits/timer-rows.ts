import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { z } from 'zod';
import type { LineageWaits, TimerRow } from './wait-rows.ts';

/** What rows need of an event; parsed leniently, since one event that nobody understands must not stop all others. */
export const fieldsSchema = z.object({
  task: z.string(),
  run: z.int().default(0),
  request: z.int().default(0),
  attempt: z.int().default(0),
  outcome: z.string().default(''),
  firewall_broken: z.string().nullable().default(null),
  next_at: z.string().nullable().default(null),
  phase: z.string().default(''),
  run_open: z.boolean().default(false),
  deadline_at: z.string().default(''),
  handoff: z.string().default(''),
  warn_at: z.string().nullable().default(null),
  expires_at: z.string().default(''),
  ended_tasks: z.array(z.string()).default([]),
  scope: z.object({ project: z.string() }).default({ project: '' }),
});
export type Fields = z.infer<typeof fieldsSchema>;

export interface Change {
  readonly waits: LineageWaits;
  readonly event: RecordedEvent;
  readonly fields: Fields;
}

export const without = <Row>(
  rows: Readonly<Record<string, Row>>,
  keys: readonly string[],
): Readonly<Record<string, Row>> => Object.fromEntries(Object.entries(rows).filter(([key]) => !keys.includes(key)));

export const timer = (
  event: RecordedEvent,
  at: string,
  rest: Pick<TimerRow, 'id' | 'kind' | 'task' | 'number'>,
): TimerRow => ({
  root: event.root,
  due_at: at,
  next_at: at,
  ...rest,
});

/** A time that is none could not be written, and one row that can't be written holds up those of all lineages. */
export const withTimer = (waits: LineageWaits, row: TimerRow): LineageWaits =>
  Number.isNaN(Date.parse(row.due_at)) ? waits : { ...waits, timers: { ...waits.timers, [row.id]: row } };

/** Whatever its runs do, a lineage has its deadline, and an open handoff the end of its own. */
export const isBeside = ({ kind }: TimerRow): boolean => kind === 'deadline' || isOfHandoff(kind);

const isOfHandoff = (kind: TimerRow['kind']): boolean => kind === 'warning' || kind === 'expiry';

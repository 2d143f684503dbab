import { displayText } from '@fixpoint/event-store/display-text';
import { sql } from 'kysely';
import { type AuditedEvent, lineageOf } from './audited-event.ts';
import type { RowTarget } from './row-table.ts';

/** A row of `audit.event`: where an event is and what it can be found by. The event itself stays in the log. */
export interface EventRow {
  readonly epoch: number;
  readonly xid: string;
  readonly position: string;
  readonly lineage: string;
  /** Null where no lineage, and no protocol, tells. */
  readonly project: string | null;
  readonly task: string | null;
  readonly run: number | null;
  readonly type: string;
  /** `outcome` of the event, where it has one. */
  readonly status: string | null;
}

/** @param projectOf what the lineage's row says; undefined for events outside any lineage. */
export const eventRow = (audited: AuditedEvent, projectOf: (lineage: string) => string | undefined): EventRow => {
  const { event, fact } = audited;
  const lineage = lineageOf(audited);
  const named = fact?.type === 'protocol_published' ? fact.data.project : undefined;
  return {
    ...event.cursor,
    lineage,
    project: projectOf(lineage) ?? named ?? null,
    ...subject(audited),
    type: event.type,
    status: fact && 'outcome' in fact.data ? fact.data.outcome : null,
  };
};

const subject = ({ fact }: AuditedEvent): Pick<EventRow, 'task' | 'run'> => {
  if (!fact) return { task: null, run: null };
  if (fact.type === 'subtask_spawned') return { task: fact.data.task_ref, run: null };
  return {
    task: 'task' in fact.data ? fact.data.task : null,
    run: 'run' in fact.data ? fact.data.run : null,
  };
};

/** Adds a page of events. Lineages come first: their rows tell the project of everything that happens in them. */
export const applyEvents = async (target: RowTarget, events: readonly AuditedEvent[]): Promise<void> => {
  const projects = await projectsOf(target, [...new Set(events.map(lineageOf))]);
  const rows = events.map((audited) => eventRow(audited, (lineage) => projects.get(lineage)));
  await sql`
    insert into ${sql.table(`${target.schema}.event`)} (${sql.join(COLUMNS.map(({ name }) => sql.ref(name)))})
    select * from unnest(${sql.join(COLUMNS.map((column) => columnOf(column, rows)))})
    on conflict do nothing`.execute(target.db);
};

/** One array a column: most rows of the read model are written here, and this is what costs the database least. */
const COLUMNS = [
  { name: 'epoch', type: 'int[]' },
  { name: 'xid', type: 'xid8[]' },
  { name: 'position', type: 'bigint[]' },
  { name: 'lineage', type: 'text[]' },
  { name: 'project', type: 'text[]' },
  { name: 'task', type: 'text[]' },
  { name: 'run', type: 'int[]' },
  { name: 'type', type: 'text[]' },
  { name: 'status', type: 'text[]' },
] as const satisfies readonly { readonly name: keyof EventRow; readonly type: string }[];

const columnOf = ({ name, type }: (typeof COLUMNS)[number], rows: readonly EventRow[]) => {
  const values = rows.map((row) => row[name]);
  const shown =
    type === 'text[]' ? values.map((value) => (value === null ? null : displayText(String(value)))) : values;
  return sql`${shown}::${sql.raw(type)}`;
};

const projectsOf = async (
  { db, schema }: RowTarget,
  lineages: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  const { rows } = await sql<{ lineage: string; project: string }>`
    select lineage, project from ${sql.table(`${schema}.lineage`)} where lineage = any(${lineages})`.execute(db);
  return new Map(rows.map(({ lineage, project }) => [lineage, project]));
};

import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { taskStatusSchema } from '@fixpoint/contracts/rest/audit';
import { READERS } from '@fixpoint/contracts/services';
import type { Log } from '@fixpoint/runtime/log';
import type { Metrics } from '@fixpoint/runtime/telemetry/metrics';
import type { Telemetry } from '@fixpoint/runtime/telemetry/telemetry';
import { sql } from 'kysely';
import type { AuditDb } from '../projections/row-table.ts';
import { READ_MODEL } from '../reading/freshness.ts';

/** Looks on while the read model is kept; nothing that goes wrong here may hold it up. */
export interface ReadModelObserver {
  /** Around the writing of one page. */
  during(events: readonly RecordedEvent[], apply: () => Promise<void>): Promise<void>;
  /** After a page was committed. */
  moved(): Promise<void>;
  /** Asks the tables no more: they are going out of reach. Called by Nest. */
  onModuleDestroy(): void;
}

export interface ObserverDeps {
  readonly db: AuditDb;
  readonly telemetry: Pick<Telemetry, 'metrics' | 'project'>;
  readonly log: Pick<Log, 'warn'>;
}

/** Spans of the projection, and what only the read model knows of lineages that have ended. */
export const readModelObserver = ({ db, telemetry, log }: ObserverDeps): ReadModelObserver => {
  const { metrics } = telemetry;
  const ends = [observeTasks(db, metrics), observeLetters(db, metrics)];
  let ended: string[] = [];
  return {
    during: async (events, apply) => {
      await telemetry.project(READ_MODEL, events, apply);
      // A page that is written again after a failure counts once: what it says is noted anew.
      ended = metrics.enabled ? events.filter(endsLineage).map(({ root }) => root) : [];
    },
    moved: async () => {
      const roots = ended;
      ended = [];
      if (roots.length > 0) await recordEnds(db, metrics, roots).catch((err: unknown) => log.warn({ err }, UNMEASURED));
    },
    onModuleDestroy: () => {
      for (const end of ends) end();
    },
  };
};

const UNMEASURED = 'lineages that have ended could not be measured';

const ENDS: ReadonlySet<string> = new Set(['task_completed', 'task_blocked', 'task_cancelled', 'task_abandoned']);

const endsLineage = ({ type, data, root }: RecordedEvent): boolean =>
  ENDS.has(type) && typeof data === 'object' && data !== null && 'task' in data && data.task === root;

interface EndedRow {
  readonly status: string;
  readonly depth: number;
  readonly fix_attempts: number;
  readonly started_at: string;
  readonly ended_at: string;
}

const recordEnds = async (db: AuditDb, metrics: Metrics, roots: readonly string[]): Promise<void> => {
  const { rows } = await sql<EndedRow>`
    select status, depth, fix_attempts, started_at, ended_at from audit.lineage
    where lineage = any(${roots}) and ended_at is not null`.execute(db);
  for (const { status, depth, fix_attempts, started_at, ended_at } of rows) {
    const state = { 'fixpoint.lineage.state': status };
    const tookMs = Math.max(0, Date.parse(ended_at) - Date.parse(started_at));
    metrics.record('fixpoint.lineage.time_to_converge', tookMs / 1_000, state);
    metrics.record('fixpoint.lineage.closure.depth', depth, state);
    metrics.record('fixpoint.lineage.attempts', fix_attempts, state);
  }
};

interface CountRow {
  readonly name: string;
  readonly count: number;
}

/** What is not there counts 0: a gauge that is not told goes on showing what it was told last. */
const withZeros = (names: readonly string[], rows: readonly CountRow[]): [string, number][] => {
  const zeros = names.map((name): [string, number] => [name, 0]);
  return [...new Map([...zeros, ...rows.map(({ name, count }): [string, number] => [name, count])])];
};

/** Every auditor says the same of the same tables: take one of them, not their sum. */
const observeTasks = (db: AuditDb, metrics: Metrics): (() => void) =>
  metrics.observe('fixpoint.task.count', async () => {
    const { rows } = await sql<CountRow>`
      select status as name, count(*)::float8 as count from audit.task group by status`.execute(db);
    return withZeros(taskStatusSchema.options, rows).map(([state, value]) => ({
      value,
      attributes: { 'fixpoint.task.state': state },
    }));
  });

/** Those that may give an offer up. */
const SERVICES = [...new Set(Object.keys(READERS).map((reader) => reader.split('__', 1)[0] ?? reader))];

const observeLetters = (db: AuditDb, metrics: Metrics): (() => void) =>
  metrics.observe('fixpoint.dead_letter.open', async () => {
    const { rows } = await sql<CountRow>`
      select service as name, count(*)::float8 as count from audit.dead_letter where status = 'parked' group by service`.execute(
      db,
    );
    return withZeros(SERVICES, rows).map(([service, value]) => ({
      value,
      attributes: { 'fixpoint.service': service },
    }));
  });

import { eventPageSchema } from '@fixpoint/contracts/rest/audit';
import {
  eventsQuerySchema,
  lineagesQuerySchema,
  runsQuerySchema,
  tasksQuerySchema,
} from '@fixpoint/contracts/rest/audit-queries';
import { cursorToken } from '@fixpoint/contracts/rest/cursor-token';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { sql } from 'kysely';
import { type AuditDatabase, auditDatabase } from '../projections/audit-database.fixture.ts';
import { audited } from '../projections/audited-event.ts';
import { foldRows, rowsJson } from '../projections/fold-rows.ts';
import { recorded, repaired, submitted, telling } from '../projections/history.fixture.ts';
import { type LineageRow, lineageRules } from '../projections/lineages.ts';
import { applyToReadModel } from '../projections/read-model.ts';
import { emptyReadModel } from '../projections/rebuild.fixture.ts';
import { type RunRow, runRules } from '../projections/runs.ts';
import { append } from '../projections/store-history.fixture.ts';
import { type TaskRow, taskRules } from '../projections/tasks.ts';
import { eventPage } from './events.ts';
import { lineageDetail, lineagePage } from './lineages.ts';
import { runPage } from './runs.ts';
import { taskPage } from './tasks.ts';

let audit: AuditDatabase;

beforeAll(async () => {
  audit = await auditDatabase();
});
afterEach(() => emptyReadModel(audit.db));
afterAll(() => audit.close());

const story = recorded(repaired('r1', telling())).map(audited);
const [aLineage] = foldRows(lineageRules, new Map(), story).values();
const [aTask] = foldRows(taskRules, new Map(), story).values();
const [aRun] = foldRows(runRules, new Map(), story).values();
if (!(aLineage && aTask && aRun)) throw new Error('the story makes one row of each kind');

/** Rows as a projection would leave them. */
const insert = async (table: string, rows: readonly object[]): Promise<void> => {
  const into = sql.table(`audit.${table}`);
  await sql`insert into ${into} select * from json_populate_recordset(null::${into}, ${rowsJson(rows)}::json)`.execute(
    audit.db,
  );
};

/** Follows `next` to the end, doing something between any two pages. */
const allPages = async <Item>(
  read: (cursor: string | undefined) => Promise<{ readonly items: readonly Item[]; readonly next: string | null }>,
  between: (page: number) => Promise<void> = async () => undefined,
): Promise<Item[]> => {
  const items: Item[] = [];
  let next: string | null | undefined;
  for (let page = 0; next !== null; page += 1) {
    const answer = await read(next);
    items.push(...answer.items);
    next = answer.next;
    await between(page);
  }
  return items;
};

const TIME = '2026-01-02T03:04:05.000Z';
const names = (count: number, prefix = 'x'): string[] => Array.from({ length: count }, (_, n) => `${prefix}${n}`);

describe('paging', () => {
  test('E18 shows 1,000 lineages of one moment once each in pages of 7 while others are added', async () => {
    const old = names(1000);
    const rows = (ids: readonly string[]): LineageRow[] =>
      ids.map((lineage) => ({ ...aLineage, lineage, started_at: TIME }));
    await insert('lineage', rows(old));
    const seen = await allPages(
      (cursor) => lineagePage(audit.db, lineagesQuerySchema.parse({ limit: 7, cursor })),
      (page) => insert('lineage', rows([`added${page}`, `zadded${page}`])),
    );
    const ids = seen.map(({ lineage }) => lineage);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => id.startsWith('x')).sort()).toEqual([...old].sort());
  });

  test('E18 shows runs of one moment once each, task by task, newest run first', async () => {
    const rows: RunRow[] = names(40).flatMap((task) =>
      [1, 2, 10].map((run) => ({ ...aRun, task, run, started_at: TIME })),
    );
    await insert('run', rows);
    const seen = await allPages((cursor) => runPage(audit.db, runsQuerySchema.parse({ limit: 7, cursor })));
    const keys = seen.map(({ task, run }) => [task, run] as const);
    expect(keys).toEqual(
      rows.map(({ task, run }) => [task, run] as const).sort(([a, n], [b, m]) => (a === b ? m - n : a < b ? 1 : -1)),
    );
  });
});

const some = <T>(values: readonly T[]) => fc.option(fc.constantFrom(...values), { nil: undefined });
const PROJECTS = ['p', 'q'];
const LINEAGES = ['l1', 'l2', 'l3'];

describe('filters', () => {
  test('E17 of lineages find what a look at every row finds', async () => {
    const rows: LineageRow[] = names(300).map((lineage, n) => ({
      ...aLineage,
      lineage,
      project: n % 3 === 0 ? 'p' : 'q',
      name: `n${n % 4}`,
      status: (['running', 'human', 'completed'] as const)[n % 5] ?? 'blocked',
      started_at: `2026-01-02T03:04:0${n % 7}.000Z`,
    }));
    await insert('lineage', rows);
    const filters = fc.record({
      project: some(PROJECTS),
      status: some(['running', 'human', 'blocked', 'degraded'] as const),
      name: some(['n0', 'n3', 'n9']),
      lineage: some(['x1', 'x2', 'nobody']),
    });
    await fc.assert(
      fc.asyncProperty(filters, async (filter) => {
        const page = await lineagePage(audit.db, lineagesQuerySchema.parse({ ...filter, limit: 1000 }));
        expect(page.items.map(({ lineage }) => lineage).sort()).toEqual(matching(rows, filter, 'lineage'));
      }),
      { numRuns: 60 },
    );
  });

  test('E17 of tasks find what a look at every row finds', async () => {
    const rows: TaskRow[] = names(200).map((task, n) => ({
      ...aTask,
      task,
      lineage: LINEAGES[n % 3] ?? '',
      project: n % 2 === 0 ? 'p' : 'q',
      kind: n % 5 === 0 ? 'root' : 'fix',
      status: n % 7 === 0 ? 'stalled' : 'completed',
    }));
    await insert('task', rows);
    const filters = fc.record({
      lineage: some(LINEAGES),
      project: some(PROJECTS),
      kind: some(['root', 'fix'] as const),
      status: some(['stalled', 'running'] as const),
      task: some(['x0', 'x7']),
    });
    await fc.assert(
      fc.asyncProperty(filters, async (filter) => {
        const page = await taskPage(audit.db, tasksQuerySchema.parse({ ...filter, limit: 1000 }));
        expect(page.items.map(({ task }) => task).sort()).toEqual(matching(rows, filter, 'task'));
      }),
      { numRuns: 60 },
    );
  });

  test('E17 of runs find what a look at every row finds', async () => {
    const rows: RunRow[] = names(200).map((task, n) => ({
      ...aRun,
      task,
      lineage: LINEAGES[n % 3] ?? '',
      project: n % 2 === 0 ? 'p' : 'q',
      state: n % 5 === 0 ? 'executing' : 'judged',
      outcome: n % 7 === 0 ? null : 'unmet',
    }));
    await insert('run', rows);
    const filters = fc.record({
      lineage: some(LINEAGES),
      project: some(PROJECTS),
      status: some(['executing', 'revoked'] as const),
      outcome: some(['unmet', 'satisfied'] as const),
      task: some(['x0', 'x7']),
    });
    await fc.assert(
      fc.asyncProperty(filters, async (filter) => {
        const page = await runPage(audit.db, runsQuerySchema.parse({ ...filter, limit: 1000 }));
        const { status: state, ...rest } = filter;
        expect(page.items.map(({ task }) => task).sort()).toEqual(matching(rows, { ...rest, state }, 'task'));
      }),
      { numRuns: 60 },
    );
  });
});

const matching = <Row extends object>(
  rows: readonly Row[],
  filter: { readonly [Name in keyof Row]?: Row[Name] | undefined },
  id: keyof Row,
) =>
  rows
    .filter((row) =>
      Object.entries(filter).every(([name, value]) => value === undefined || Reflect.get(row, name) === value),
    )
    .map((row) => row[id])
    .sort();

describe('events', () => {
  const goal = 'a\0b \ud800 "quoted" \u2028';

  const stored = async () => {
    const { told, tell } = telling();
    repaired('r1', { told, tell });
    tell('lineage-r2', 'r2', submitted('r2', { goal, project: 'other', labels: { '10': 'ten', '9': 'nine' } }));
    await append(audit.store, told);
    const events = await Promise.all(
      [...new Set(told.map(({ stream }) => stream))].map((s) => audit.store.readStream(s)),
    );
    const ordered = events.flat().sort((a, b) => Number(a.cursor.position) - Number(b.cursor.position));
    await applyToReadModel({ db: audit.db, schema: 'audit' }, ordered);
    return ordered;
  };

  test('E1 E17 E18 are found by any filter, page by page, as they are stored', async () => {
    const events = await stored();
    const read = (query: object) =>
      allPages(async (cursor) =>
        eventPageSchema.parse(JSON.parse(await eventPage(audit.db, eventsQuerySchema.parse({ ...query, cursor })))),
      );
    expect(await read({ limit: 4 })).toEqual(events);
    const ofType = (type: string) => events.filter((event) => event.type === type);
    expect(await read({ type: 'node_ready', limit: 1 })).toEqual(ofType('node_ready'));
    expect(await read({ project: 'other' })).toEqual(events.slice(-1));
    expect(await read({ lineage: 'r1', task: 'r1.f1', type: 'tool_called', status: 'ok' })).toEqual([
      ...ofType('tool_called').filter(({ stream }) => stream === 'action-r1.f1-1'),
    ]);
    expect(await read({ lineage: 'r2', project: 'web-shop' })).toEqual([]);
    const since = events[9]?.cursor;
    expect(await read({ since: since && cursorToken(since), limit: 3 })).toEqual(events.slice(10));

    // Byte for byte: reading and writing again would put the label "9" before "10".
    const text = await eventPage(audit.db, eventsQuerySchema.parse({ lineage: 'r2' }));
    expect(text).toContain('"labels":{"10":"ten","9":"nine"}');
    expect(text).toContain('a\\u0000b \\ud800');
  });
});

describe('a lineage', () => {
  test('has its tasks as a tree', async () => {
    await insert('lineage', [{ ...aLineage, lineage: 'r1' }]);
    const task = (id: string, parent: string | null): TaskRow => ({ ...aTask, lineage: 'r1', task: id, parent });
    await insert('task', [
      task('r1.f1', 'r1'),
      task('r1.f10', 'r1'),
      task('r1.f2', 'r1'),
      task('r1', null),
      task('r1.f2.f1', 'r1.f2'),
    ]);
    const shape = (tree: { task: string; children: readonly unknown[] } | undefined): unknown =>
      tree && [tree.task, ...tree.children.map((child) => shape(child as never))];
    const detail = await lineageDetail(audit.db, 'r1');
    expect(detail?.fix_attempts_left).toBe(9);
    expect(shape(detail?.tree)).toEqual(['r1', ['r1.f1'], ['r1.f2', ['r1.f2.f1']], ['r1.f10']]);
  });

  test('that does not exist is not found, whatever its name', async () => {
    expect(await lineageDetail(audit.db, 'no\0body')).toBeNull();
  });
});

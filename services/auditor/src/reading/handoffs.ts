import type { Handoff, HandoffPage } from '@fixpoint/contracts/rest/audit-handoffs';
import type { HandoffsQuery } from '@fixpoint/contracts/rest/audit-queries';
import { lineageStream } from '@fixpoint/contracts/streams';
import { displayText } from '@fixpoint/event-store/display-text';
import { sql } from 'kysely';
import { HANDOFF_EVENTS } from '../projections/handoffs.ts';
import { PROVIDER_HANDOFF_EVENTS } from '../projections/provider-handoffs.ts';
import type { AuditDb } from '../projections/row-table.ts';
import { storedEvents } from './events.ts';
import { type Condition, equals, type PageSource, readPage } from './page.ts';

/** Postgres gives a bigint as text. */
interface Viewed extends Omit<Handoff, 'money_micros' | 'tokens'> {
  readonly money_micros: string | null;
  readonly tokens: string | null;
}

const source: PageSource<Viewed> = {
  view: 'audit.handoffs',
  order: ['opened_at', 'handoff'],
  kinds: ['string', 'string'],
  keyOf: ({ opened_at, handoff }) => [opened_at, handoff],
};

/** @throws {CursorInvalid} */
export const handoffPage = async (db: AuditDb, query: HandoffsQuery): Promise<HandoffPage> => {
  const { lineage, project, task, status, help, claimed } = query;
  const conditions = [...equals({ lineage, project, task, status }), ...helping(help), ...claimedOr(claimed)];
  const page = await readPage(db, source, { conditions, query });
  return { items: page.items.map(shown), next: page.next };
};

/** Any of its causes may need it. */
const helping = (help: HandoffsQuery['help']): Condition[] =>
  help === undefined ? [] : [sql`exists (select from json_array_elements(causes) c where c->>'help' = ${help})`];

const claimedOr = (claimed: HandoffsQuery['claimed']): Condition[] =>
  claimed === undefined ? [] : [sql`claimed = ${claimed === 'true'}`];

/** As JSON text, its events byte for byte as they are stored. @returns null when there is no such handoff. */
export const handoffDetail = async (db: AuditDb, handoff: string): Promise<string | null> => {
  const { rows } = await sql<Viewed>`
    select * from audit.handoffs where handoff = ${displayText(handoff)}`.execute(db);
  const [row] = rows;
  if (!row) return null;
  const history = await historyOf(db, row);
  return `${JSON.stringify(shown(row)).slice(0, -1)},"history":[${history.map(({ json }) => json).join(',')}]}`;
};

const historyOf = async (db: AuditDb, { handoff, lineage }: Viewed): Promise<readonly { readonly json: string }[]> => {
  if (handoff === lineage) {
    return storedEvents(db, sql`e.stream = ${handoff} and e.type = any(${PROVIDER_HANDOFF_EVENTS})`);
  }
  const told = await storedEvents(db, sql`e.stream = ${lineageStream(lineage)} and e.type = any(${HANDOFF_EVENTS})`);
  return told.filter(({ json }) => JSON.parse(json).data?.handoff === handoff);
};

const shown = (row: Viewed): Handoff => ({
  ...{ handoff: row.handoff, lineage: row.lineage, task: row.task, address: row.address, project: row.project },
  ...{ status: row.status, version: row.version, help: row.help, stage: row.stage },
  ...{ halt_type: row.halt_type, raw_halt_type: row.raw_halt_type, detail: row.detail, causes: row.causes },
  ...{ slice_task: row.slice_task, node: row.node, run: row.run, goal: row.goal },
  ...{ runs: row.runs, fix_attempts: row.fix_attempts },
  money_micros: row.money_micros === null ? null : Number(row.money_micros),
  tokens: row.tokens === null ? null : Number(row.tokens),
  ...{ duration_ms: row.duration_ms, lineage_runs: row.lineage_runs, decisions: row.decisions },
  ...{ claimed: row.claimed, claimed_by: row.claimed_by, claimed_until: row.claimed_until, warned: row.warned },
  ...{ expires_at: row.expires_at, on_expiry: row.on_expiry, expired_at: row.expired_at },
  ...{ decision: row.decision, closed_by: row.closed_by, opened_at: row.opened_at, closed_at: row.closed_at },
  cursor: row.cursor,
});

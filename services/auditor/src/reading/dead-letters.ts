import type { DeadLettersQuery } from '@fixpoint/contracts/rest/audit-queries';
import type { DeadLetterPage, DeadLetterRow } from '@fixpoint/contracts/rest/dead-letters';
import { deadLetterStream } from '@fixpoint/contracts/streams';
import { displayText } from '@fixpoint/event-store/display-text';
import { sql } from 'kysely';
import type { AuditDb } from '../projections/row-table.ts';
import { storedEvents } from './events.ts';
import { equals, type PageSource, readPage } from './page.ts';

const source: PageSource<DeadLetterRow> = {
  view: 'audit.dead_letters',
  order: ['parked_at', 'letter'],
  kinds: ['string', 'string'],
  keyOf: ({ parked_at, letter }) => [parked_at, letter],
};

/** @throws {CursorInvalid} */
export const deadLetterPage = async (db: AuditDb, query: DeadLettersQuery): Promise<DeadLetterPage> => {
  const { status, lineage, service, reader } = query;
  const page = await readPage(db, source, { conditions: equals({ status, lineage, service, reader }), query });
  return { items: page.items.map(shown), next: page.next };
};

/** As JSON text, its events byte for byte as they are stored. @returns null when there is no such letter. */
export const deadLetterDetail = async (db: AuditDb, letter: string): Promise<string | null> => {
  const { rows } = await sql<DeadLetterRow>`
    select * from audit.dead_letters where letter = ${displayText(letter)}`.execute(db);
  const [row] = rows;
  if (!row) return null;
  const history = await storedEvents(db, sql`e.stream = ${deadLetterStream(row.letter)}`);
  const [event] = UUID.test(row.event_id) ? await storedEvents(db, sql`e.id = ${row.event_id}::uuid`) : [];
  const head = JSON.stringify(shown(row)).slice(0, -1);
  return `${head},"event":${event?.json ?? 'null'},"history":[${history.map(({ json }) => json).join(',')}]}`;
};

/** What is no uuid is the id of no stored event; the cast alone would fail on it. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const shown = (row: DeadLetterRow): DeadLetterRow => ({
  letter: row.letter,
  status: row.status,
  service: row.service,
  reader: row.reader,
  event_id: row.event_id,
  event_type: row.event_type,
  event_version: row.event_version,
  lineage: row.lineage,
  task: row.task,
  run: row.run,
  deliveries: row.deliveries,
  replays: row.replays,
  reason: row.reason,
  actor: row.actor,
  discarded_because: row.discarded_because,
  parked_at: row.parked_at,
  changed_at: row.changed_at,
  cursor: row.cursor,
});

import type { ProvidersQuery } from '@fixpoint/contracts/rest/audit-queries';
import type { ProviderPage, ProviderState } from '@fixpoint/contracts/rest/providers';
import type { AuditDb } from '../projections/row-table.ts';
import { equals, type PageSource, readPage } from './page.ts';

const source: PageSource<ProviderState> = {
  view: 'audit.providers',
  order: ['seen_at', 'provider'],
  kinds: ['string', 'string'],
  keyOf: ({ seen_at, provider }) => [seen_at, provider],
};

/** @throws {CursorInvalid} */
export const providerPage = async (db: AuditDb, query: ProvidersQuery): Promise<ProviderPage> => {
  const page = await readPage(db, source, { conditions: equals({ status: query.status }), query });
  return { items: page.items.map(shown), next: page.next };
};

const shown = (row: ProviderState): ProviderState => ({
  provider: row.provider,
  status: row.status,
  class: row.class,
  detail: row.detail,
  reason: row.reason,
  count: row.count,
  since: row.since,
  paused_until: row.paused_until,
  probe: row.probe,
  asked_by: row.asked_by,
  seen_at: row.seen_at,
  changed_at: row.changed_at,
  cursor: row.cursor,
});

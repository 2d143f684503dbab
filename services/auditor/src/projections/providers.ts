import type { EventNamed } from '@fixpoint/contracts/events/catalogue';
import type { ProviderState } from '@fixpoint/contracts/rest/providers';
import { sql } from 'kysely';
import type { RowRules } from './fold-rows.ts';
import type { RowTable } from './row-table.ts';

/** How each provider stands: from its own stream alone. */
export const providerRules: RowRules<ProviderState> = {
  keysOf: ({ fact }) => {
    switch (fact?.type) {
      case 'provider_faulted':
      case 'provider_paused':
      case 'provider_probed':
      case 'provider_resumed':
      case 'provider_retry_asked':
        return [fact.data.provider];
      default:
        return [];
    }
  },
  evolve: (row, { event, fact }, provider) => {
    const at = event.occurred_at;
    if (fact?.type === 'provider_faulted')
      return { ...(row ?? unheardOf(provider, at)), ...met(fact.data), changed_at: at };
    if (fact?.type === 'provider_paused')
      return { ...(row ?? unheardOf(provider, at)), ...paused(fact.data), changed_at: at };
    if (row === undefined) return undefined;
    const resting = { ...row, paused_until: null, probe: null, changed_at: at };
    switch (fact?.type) {
      case 'provider_probed':
        return { ...resting, status: 'probing', probe: fact.data.probe };
      case 'provider_resumed':
        return { ...resting, status: 'open' };
      case 'provider_retry_asked':
        return { ...resting, status: 'paused', paused_until: fact.data.asked_at, asked_by: event.metadata.actor };
      default:
        return undefined;
    }
  },
};

const unheardOf = (provider: string, at: string): ProviderState => ({
  ...{ provider, status: 'open', class: 'network', detail: '', reason: null, count: 0, since: null },
  ...{ paused_until: null, probe: null, asked_by: null, seen_at: at, changed_at: at, cursor: '' },
});

const met = ({ class: name, detail }: EventNamed<'provider_faulted'>['data']): Partial<ProviderState> => ({
  class: name,
  detail,
});

const paused = (data: EventNamed<'provider_paused'>['data']): Partial<ProviderState> => ({
  ...{ class: data.class, detail: data.detail, reason: data.reason, count: data.count, since: data.since, probe: null },
  ...{ status: data.until === null ? 'human' : 'paused', paused_until: data.until },
});

export const providerTable: RowTable<ProviderState> = {
  name: 'provider',
  rules: providerRules,
  key: ['provider'],
  columns: [
    ...(['status', 'class', 'detail', 'reason', 'count', 'since', 'paused_until', 'probe', 'asked_by'] as const),
    ...(['seen_at', 'changed_at', 'cursor'] as const),
  ],
  keyOf: ({ provider }) => provider,
  where: (keys) => sql`provider = any(${keys})`,
};

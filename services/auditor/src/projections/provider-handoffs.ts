import type { EventNamed, FixpointEvent } from '@fixpoint/contracts/events/catalogue';
import { providerStream } from '@fixpoint/contracts/streams';
import type { AuditedEvent } from './audited-event.ts';
import { excerpt } from './fold-rows.ts';
import type { HandoffRow } from './handoff-row.ts';

type Paused = EventNamed<'provider_paused'>['data'];

const DETAIL_LENGTH = 2_000;

/** Everything that opens or closes the handoff of a provider. */
export const PROVIDER_HANDOFF_EVENTS: readonly string[] = [
  'provider_paused',
  'provider_retry_asked',
  'provider_resumed',
];

/** A provider has one handoff, named as its stream; null for events of anything else. */
export const providerHandoffOf = (fact: FixpointEvent | null): string | null => {
  switch (fact?.type) {
    case 'provider_paused':
    case 'provider_retry_asked':
    case 'provider_resumed':
      return providerStream(fact.data.provider);
    default:
      return null;
  }
};

/**
 * It is opened anew, under another version, whenever somebody has to say that the provider may be tried. It has no end: to
 * try what nobody has mended would only use up a run, and a provider is not given up for work that is not its own.
 */
export const providerHandoff = (row: HandoffRow | undefined, { event, fact }: AuditedEvent): HandoffRow | undefined => {
  const { occurred_at: at, metadata } = event;
  if (fact?.type === 'provider_paused' && fact.data.until === null) return opened(row, fact.data, at);
  if (row?.status !== 'open') return row;
  if (fact?.type === 'provider_retry_asked')
    return { ...row, status: 'decided', decision: 'retry', closed_by: metadata.actor, closed_at: at };
  return fact?.type === 'provider_resumed'
    ? { ...row, status: 'withdrawn', closed_by: metadata.actor, closed_at: at }
    : row;
};

const opened = (row: HandoffRow | undefined, data: Paused, at: string): HandoffRow => {
  const handoff = providerStream(data.provider);
  const cause = {
    ...{ help: 'infrastructure' as const, stage: 'infrastructure' as const, halt_type: 'environment_error' as const },
    ...{ raw_halt_type: data.class, detail: excerpt(data.detail, DETAIL_LENGTH) },
  };
  return {
    ...{ handoff, lineage: handoff, task: data.provider, address: '0', status: 'open' },
    ...{ version: (row?.version ?? 0) + 1, ...cause, causes: [cause] },
    ...{ slice_task: data.provider, node: null, run: null, goal: `${data.provider} answers again` },
    ...{ runs: 0, fix_attempts: 0, money_micros: null, tokens: null, duration_ms: null, lineage_runs: null },
    ...{ decisions: ['retry'], claimed_by: null, claimed_until: null, warned: 0 },
    ...{ expires_at: null, on_expiry: 'keep', expired_at: null },
    ...{ decision: null, closed_by: null, opened_at: at, closed_at: null, cursor: '' },
  };
};

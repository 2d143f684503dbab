import type { EventNamed } from '@fixpoint/contracts/events/catalogue';
import type { DeadLetterRow } from '@fixpoint/contracts/rest/dead-letters';
import { deadLetterOfStream } from '@fixpoint/contracts/streams';
import { sql } from 'kysely';
import type { AuditedEvent } from './audited-event.ts';
import type { RowRules } from './fold-rows.ts';
import type { RowTable } from './row-table.ts';

/** What each dead letter says now: absolute, from its own stream alone. */
export const deadLetterRules: RowRules<DeadLetterRow> = {
  keysOf: ({ event }) => {
    const letter = deadLetterOfStream(event.stream);
    return letter === null ? [] : [letter];
  },
  evolve: (row, { event, fact }, letter) => {
    if (fact?.type === 'dead_lettered') return parked(row, { letter, data: fact.data, at: event.occurred_at });
    if (row === undefined) return undefined;
    const changed = { ...row, changed_at: event.occurred_at, actor: event.metadata.actor };
    if (fact?.type === 'dead_letter_replayed') return { ...changed, status: 'replayed', replays: fact.data.replays };
    if (fact?.type !== 'dead_letter_discarded') return undefined;
    return { ...changed, status: 'discarded', discarded_because: fact.data.reason };
  },
};

interface Parking {
  readonly letter: string;
  readonly data: EventNamed<'dead_lettered'>['data'];
  readonly at: AuditedEvent['event']['occurred_at'];
}

const parked = (row: DeadLetterRow | undefined, { letter, data, at }: Parking): DeadLetterRow => ({
  ...{ letter, status: 'parked', service: data.service, reader: data.reader },
  ...{ event_id: data.event_id, event_type: data.event_type, event_version: data.event_version },
  ...{ lineage: data.root, task: data.task, run: data.run, deliveries: data.deliveries, reason: data.reason },
  replays: row?.replays ?? 0,
  actor: row?.actor ?? null,
  discarded_because: null,
  parked_at: row?.parked_at ?? at,
  changed_at: at,
  cursor: '',
});

export const deadLetterTable: RowTable<DeadLetterRow> = {
  name: 'dead_letter',
  rules: deadLetterRules,
  key: ['letter'],
  columns: [
    ...(['status', 'service', 'reader', 'event_id', 'event_type', 'event_version', 'lineage', 'task', 'run'] as const),
    ...([
      'deliveries',
      'replays',
      'reason',
      'actor',
      'discarded_because',
      'parked_at',
      'changed_at',
      'cursor',
    ] as const),
  ],
  keyOf: ({ letter }) => letter,
  where: (keys) => sql`letter = any(${keys})`,
};

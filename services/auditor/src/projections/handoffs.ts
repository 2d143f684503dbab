import type { EventNamed, FixpointEvent } from '@fixpoint/contracts/events/catalogue';
import { sql } from 'kysely';
import type { AuditedEvent } from './audited-event.ts';
import { excerpt, type RowRules } from './fold-rows.ts';
import type { HandoffRow } from './handoff-row.ts';
import { providerHandoff, providerHandoffOf } from './provider-handoffs.ts';
import type { RowTable } from './row-table.ts';

type Data<Type extends FixpointEvent['type']> = EventNamed<Type>['data'];

const TYPES = [
  'human_required',
  'handoff_updated',
  'handoff_cause_ended',
  'handoff_claimed',
  'handoff_warned',
  'handoff_expired',
  'handoff_withdrawn',
  'human_decided',
] as const satisfies readonly FixpointEvent['type'][];

/** Everything that is ever said of a handoff. */
export const HANDOFF_EVENTS: readonly string[] = TYPES;

type AboutHandoff = EventNamed<(typeof TYPES)[number]>;

const isAboutHandoff = (fact: FixpointEvent | null): fact is AboutHandoff =>
  fact !== null && HANDOFF_EVENTS.includes(fact.type);

export const handoffRules: RowRules<HandoffRow> = {
  keysOf: ({ fact }) => {
    const ofProvider = providerHandoffOf(fact);
    if (ofProvider !== null) return [ofProvider];
    return isAboutHandoff(fact) ? [fact.data.handoff] : [];
  },
  evolve: (row, audited) => {
    const { event, fact } = audited;
    if (providerHandoffOf(fact) !== null) return providerHandoff(row, audited);
    if (!isAboutHandoff(fact)) return row;
    if (fact.type === 'human_required') return row ?? opened(fact.data, event.occurred_at);
    return row && { ...row, ...meaning(row, fact, event) };
  },
};

/** Longest texts of a row; events have the whole. */
const DETAIL_LENGTH = 2_000;
const GOAL_LENGTH = 500;

const opened = (data: Data<'human_required'>, at: string): HandoffRow => ({
  ...{ handoff: data.handoff, lineage: data.root, task: data.task, address: data.address, status: 'open' },
  ...{ version: data.version, ...firstOf([causeOf(data)]) },
  ...{ slice_task: data.slice.task, node: data.slice.node_id, run: data.slice.run },
  goal: excerpt(data.slice.goal, GOAL_LENGTH),
  ...{ runs: data.tried.runs, fix_attempts: data.tried.fix_attempts },
  ...costOf(data.cost),
  decisions: data.decisions,
  ...{ claimed_by: null, claimed_until: null, warned: 0 },
  ...{ expires_at: data.expires_at, on_expiry: data.on_expiry, expired_at: null },
  ...{ decision: null, closed_by: null, opened_at: at, closed_at: null, cursor: '' },
});

const costOf = (cost: Data<'human_required'>['cost']) => {
  const { money_micros = null, tokens = null, duration_ms = null, runs = null } = cost ?? {};
  return { money_micros, tokens, duration_ms, lineage_runs: runs };
};

type Cause = HandoffRow['causes'][number];

const causeOf = ({ help, stage, halt_type, raw_halt_type, detail }: Cause): Cause => ({
  ...{ help, stage, halt_type, raw_halt_type },
  detail: excerpt(detail, DETAIL_LENGTH),
});

/** A row shows its oldest cause that is left beside all of them; with none left, the one that it had. */
const firstOf = (causes: readonly [Cause, ...Cause[]]) => ({ ...causes[0], causes: [...causes] });

const meaning = (
  row: HandoffRow,
  fact: Exclude<AboutHandoff, { type: 'human_required' }>,
  { occurred_at: at, metadata: { actor } }: AuditedEvent['event'],
): Partial<HandoffRow> => {
  switch (fact.type) {
    case 'handoff_updated':
      return updated(row, fact.data);
    case 'handoff_cause_ended':
      return causeEnded(row, fact.data);
    case 'handoff_claimed':
      return {
        version: fact.data.version,
        claimed_by: fact.data.by,
        claimed_until: fact.data.until,
        ...endIn(fact.data),
      };
    case 'handoff_warned':
      return { warned: fact.data.share, ...endIn(fact.data) };
    case 'handoff_expired':
      return { expired_at: at, ...(fact.data.outcome === 'keep' ? {} : closed('expired', at, actor)) };
    case 'handoff_withdrawn':
      return closed('withdrawn', at, actor);
    case 'human_decided':
      return { ...closed('decided', at, fact.data.actor), decision: fact.data.decision.kind };
    default:
      return fact satisfies never;
  }
};

const endIn = ({ expires_at }: { readonly expires_at: string }) => ({ expires_at });

const closed = (status: HandoffRow['status'], at: string, actor: string): Partial<HandoffRow> => ({
  ...{ status, closed_at: at, closed_by: actor },
});

const updated = (row: HandoffRow, data: Data<'handoff_updated'>): Partial<HandoffRow> => ({
  version: data.version ?? row.version + 1,
  causes: [...row.causes, causeOf(data)],
  // Releases that did not count versions did not say what all causes together allow, either.
  decisions: data.version === null ? row.decisions : data.decisions,
});

const causeEnded = (row: HandoffRow, data: Data<'handoff_cause_ended'>): Partial<HandoffRow> => {
  const detail = excerpt(data.detail, DETAIL_LENGTH);
  const [first, ...rest] = row.causes.filter(
    (cause) => cause.raw_halt_type !== data.raw_halt_type || cause.detail !== detail,
  );
  return { version: row.version + 1, ...(first === undefined ? {} : firstOf([first, ...rest])) };
};

export const handoffTable: RowTable<HandoffRow> = {
  name: 'handoff',
  rules: handoffRules,
  key: ['handoff'],
  columns: [
    ...(['lineage', 'task', 'address', 'status', 'version', 'help', 'stage', 'halt_type', 'raw_halt_type'] as const),
    ...(['detail', 'causes', 'slice_task', 'node', 'run', 'goal', 'runs', 'fix_attempts'] as const),
    ...([
      'money_micros',
      'tokens',
      'duration_ms',
      'lineage_runs',
      'decisions',
      'claimed_by',
      'claimed_until',
      'warned',
    ] as const),
    ...([
      'expires_at',
      'on_expiry',
      'expired_at',
      'decision',
      'closed_by',
      'opened_at',
      'closed_at',
      'cursor',
    ] as const),
  ],
  keyOf: ({ handoff }) => handoff,
  where: (keys) => sql`handoff = any(${keys})`,
};

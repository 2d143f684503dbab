import { runAddress } from '@fixpoint/contracts/addresses';
import type { EventNamed, FixpointEvent } from '@fixpoint/contracts/events/catalogue';
import type { Run, VerdictSummary } from '@fixpoint/contracts/rest/audit';
import type { Verdict } from '@fixpoint/contracts/verdict';
import { sql } from 'kysely';
import { excerpt, type RowRules } from './fold-rows.ts';
import type { RowTable } from './row-table.ts';

/** A row of `audit.run`. */
export type RunRow = Run;

const TEXT_LENGTH = 2_000;

const keyOfRun = ({ task, run }: Pick<Run, 'task' | 'run'>): string => runAddress(task, run);

export const runRules: RowRules<RunRow> = {
  keysOf: ({ fact }) => (fact && isAboutRun(fact) ? [keyOfRun(fact.data)] : []),
  evolve: (row, { event, fact }) => {
    if (!fact) return row;
    if (!row) return fact.type === 'node_ready' ? ready(fact.data, event.occurred_at) : undefined;
    const patch = meaning(row, fact, event.occurred_at);
    return patch && { ...row, ...patch };
  },
};

const RUN_TYPES = [
  'node_ready',
  'governance_passed',
  'governance_blocked',
  'governance_escalated',
  'gate_faulted',
  'action_started',
  'tool_called',
  'node_verified_action',
  'run_refused',
  'run_revoked',
  'post_validated',
  'fault_recorded',
] as const;
type RunFact = EventNamed<(typeof RUN_TYPES)[number]>;

const isAboutRun = (fact: FixpointEvent): fact is RunFact => (RUN_TYPES as readonly string[]).includes(fact.type);

const ready = (data: EventNamed<'node_ready'>['data'], at: string): RunRow => ({
  lineage: data.root,
  task: data.task,
  run: data.run,
  address: data.address,
  project: data.scope.project,
  kind: data.run_kind,
  purpose: data.purpose,
  node: data.node.id,
  state: 'ready',
  outcome: null,
  rung: 'none',
  exit_code: null,
  tools: 0,
  duration_ms: null,
  detail: '',
  judgement: null,
  verdicts: [],
  halt_type: null,
  raw_halt_type: null,
  started_at: at,
  ended_at: null,
  cursor: '',
});

const meaning = (row: RunRow, fact: FixpointEvent, at: string): Partial<RunRow> | undefined => {
  switch (fact.type) {
    case 'governance_passed':
      return { state: 'gated' };
    case 'governance_blocked':
    case 'governance_escalated':
      return { state: 'blocked', ...judged(fact.data), ended_at: at };
    case 'action_started':
      return { state: 'executing' };
    case 'tool_called':
      return { tools: fact.data.seq };
    case 'node_verified_action':
      return executed(fact.data, at);
    case 'post_validated':
      return { state: 'judged', judgement: fact.data.outcome, ...judged(fact.data), ended_at: at };
    default:
      return failed(row, fact, at);
  }
};

/** The machinery, not the work: what was judged before stays what it was. */
const failed = (row: RunRow, fact: FixpointEvent, at: string): Partial<RunRow> | undefined => {
  switch (fact.type) {
    case 'run_refused':
      return {
        state: 'refused',
        detail: excerpt(`${fact.data.reason}: ${fact.data.detail}`, TEXT_LENGTH),
        ended_at: at,
      };
    case 'run_revoked':
      return { state: 'revoked', detail: excerpt(fact.data.reason, TEXT_LENGTH), ended_at: at };
    case 'gate_faulted':
    case 'fault_recorded':
      if (row.state === 'judged' || row.state === 'revoked') return undefined;
      return {
        state: 'faulted',
        detail: excerpt(`${fact.data.class}: ${fact.data.detail}`, TEXT_LENGTH),
        ended_at: at,
      };
    default:
      return undefined;
  }
};

const executed = (data: EventNamed<'node_verified_action'>['data'], at: string): Partial<RunRow> => ({
  state: data.outcome === 'faulted' ? 'faulted' : 'executed',
  outcome: data.outcome,
  rung: data.rung,
  exit_code: data.exit_code,
  duration_ms: data.spent.duration_ms,
  detail: excerpt(data.detail, TEXT_LENGTH),
  ended_at: at,
});

const judged = (data: Pick<Run, 'halt_type' | 'raw_halt_type'> & { readonly verdicts: readonly Verdict[] }) => ({
  halt_type: data.halt_type,
  raw_halt_type: data.raw_halt_type,
  verdicts: data.verdicts.map(summary),
});

const summary = ({ validator, severity, error, justification }: Verdict): VerdictSummary => ({
  validator,
  severity,
  error,
  justification: excerpt(justification, 500),
});

export const runTable: RowTable<RunRow> = {
  name: 'run',
  rules: runRules,
  key: ['task', 'run'],
  columns: [
    'lineage',
    'address',
    'project',
    'kind',
    'purpose',
    'node',
    'state',
    'outcome',
    'rung',
    'exit_code',
    'tools',
    'duration_ms',
    'detail',
    'judgement',
    'verdicts',
    'halt_type',
    'raw_halt_type',
    'started_at',
    'ended_at',
    'cursor',
  ],
  keyOf: keyOfRun,
  where: (keys) => {
    const split = keys.map((key) => key.lastIndexOf('#'));
    const tasks = keys.map((key, index) => key.slice(0, split[index]));
    const runs = keys.map((key, index) => Number(key.slice((split[index] ?? 0) + 1)));
    return sql`(task, run) in (select * from unnest(${tasks}::text[], ${runs}::int[]))`;
  },
};

import { contentHash } from '@fixpoint/contracts/content-hash';
import { judgementSignature } from '@fixpoint/contracts/signature';
import type { Verdict } from '@fixpoint/contracts/verdict';
import type { Judgement, LineageCommand, RunResult } from '@fixpoint/orchestrator/domain/lineage/commands';
import { slice } from '@fixpoint/orchestrator/domain/lineage/epics/epic.fixture';
import { ref, verdict } from '@fixpoint/orchestrator/domain/lineage/lineage.fixture';
import type { Admitted, Task } from '@fixpoint/orchestrator/domain/lineage/state';

type CommandOf<Command> = Command extends unknown
  ? Omit<Command, 'now' | 'mode' | 'askCondition' | 'admission' | 'agentModels' | 'withdrawn'>
  : never;
export type Told = CommandOf<LineageCommand>;

/** What may still happen that costs something: each is taken from what is left. */
export interface Allowed {
  readonly faults: number;
  readonly conflicts: number;
  readonly objections: number;
  readonly unmet: number;
  readonly splits: number;
  readonly blocks: number;
  /** Warnings, and blockers that a human may lift: the gate or a judgement withholds its approval. */
  readonly withheld: number;
  readonly deadlines: number;
  /** Of humans, each about one handoff. */
  readonly decisions: number;
  readonly cancels: number;
}

/** Something that may be told to a lineage now. */
export interface Move {
  readonly name: string;
  readonly told: Told;
  readonly costs?: keyof Allowed;
}

export interface OfRun {
  readonly task: Task;
  readonly run: number;
  readonly kind: RunResult['run_kind'];
}

const resultOf = (state: Admitted, { task, run, kind }: OfRun, more: Partial<RunResult> = {}): RunResult => ({
  ...{ root: state.root, task: task.id, address: task.address, run, run_kind: kind },
  ...{ node_id: task.nodes[task.nodeIndex]?.id ?? 'none', outcome: 'satisfied', fault_class: null, rung: 'recipe' },
  ...{ policy: 'required', postcondition_met: true, exit_code: 0, recipe_hash: contentHash('recipe') },
  ...{ repaired_command: null, workspace_ref: ref(`${task.id}#${run}`), output: null, output_artifact: null },
  ...{ detail: '', firewall_broken: null, merge_conflicts: null, provider_fault: null },
  spent: { duration_ms: 1, money_micros: 0, tokens: 0 },
  ...more,
});

const judged = (state: Admitted, of: OfRun, verdicts: Verdict[]): Told => {
  const result = resultOf(state, of);
  const { root, task, address, run, node_id, workspace_ref } = result;
  const judgement: Judgement = {
    ...{ root, task, address, run, node_id, workspace_ref, verdicts, halt_type: null, raw_halt_type: null },
    outcome: verdicts.length === 0 ? 'proceed' : 'recover',
    reason: 'as the verdicts say',
    triggering_validators: verdicts.map(({ validator }) => validator),
    signature: judgementSignature(verdicts, workspace_ref?.tree ?? null),
  };
  return { type: 'judge_run', judgement, result };
};

const fault = ({ task, run }: OfRun): Told => ({
  ...{ type: 'fault_run', task: task.id, run, phase: 'action', class: 'lost_executor', retryAfterMs: 0 },
  ...{ detail: 'lost', result: null, effects: 'none' },
});

const block = (state: Admitted, { task, run }: OfRun): Told => ({
  type: 'block_run',
  answer: {
    ...{ root: state.root, task: task.id, address: task.address, run, outcome: 'halt' },
    ...{ halt_type: 'blocker', raw_halt_type: 'commands', verdicts: [verdict('commands')] },
  },
});

const WARNED = [verdict('size', { severity: 'warning' })];
const LIFTABLE = [verdict('licence')];

/** The gate or the judges leave it to a human: to approve over a warning, or to override a blocker. */
const withheld = (state: Admitted, of: OfRun): readonly (readonly [string, Told])[] => {
  const { root } = state;
  const { id: task, address } = of.task;
  const about = { root, task, address, run: of.run };
  const warned = { halt_type: 'escalate' as const, raw_halt_type: 'warnings', verdicts: WARNED };
  const blocked = { halt_type: 'blocker' as const, raw_halt_type: 'licence', verdicts: LIFTABLE };
  const judge = (verdicts: Verdict[], outcome: Judgement['outcome']): Told => {
    const told = judged(state, of, verdicts);
    return told.type === 'judge_run' ? { ...told, judgement: { ...told.judgement, outcome } } : told;
  };
  return [
    ['is escalated by the gate', { type: 'escalate_run', answer: { ...about, ...warned } }],
    [
      'is withheld by the gate',
      { type: 'block_run', answer: { ...about, ...blocked, outcome: 'blocked_overridable' } },
    ],
    ['is escalated by the judges', judge(WARNED, 'escalate')],
    ['is withheld by the judges', judge(LIFTABLE, 'blocked_overridable')],
  ];
};

const unmet = (state: Admitted, of: OfRun, more: Partial<RunResult> = {}): Told => ({
  type: 'end_run',
  result: resultOf(state, of, { outcome: 'unmet', postcondition_met: false, detail: 'not there', ...more }),
});

/** Everything that may be answered about a run, in time or too late. */
export const answersTo = (state: Admitted, of: OfRun): readonly Move[] => {
  const { kind } = of;
  const name = `${of.task.address}#${of.run}`;
  const lands = kind === 'integrate' || kind === 'deliver';
  return [
    { name: `${name} is good`, told: judged(state, of, []) },
    ...(lands
      ? [
          {
            name: `${name} conflicts`,
            told: unmet(state, of, { merge_conflicts: ['file'] }),
            costs: 'conflicts',
          } as const,
        ]
      : [
          { name: `${name} is unmet`, told: unmet(state, of), costs: 'unmet' } as const,
          { name: `${name} is objected to`, told: judged(state, of, [verdict('lint')]), costs: 'objections' } as const,
        ]),
    { name: `${name} is lost`, told: fault(of), costs: 'faults' },
    { name: `${name} is blocked`, told: block(state, of), costs: 'blocks' },
    ...withheld(state, of).map(([what, told]) => ({ name: `${name} ${what}`, told, costs: 'withheld' }) as const),
  ];
};

export interface OfRequest {
  readonly task: Task;
  readonly request: number;
}

const split = (state: Admitted, { task, request }: OfRequest, should: boolean): Told => {
  const asked = { root: state.root, task: task.id, address: task.address, request, reason: 'so' };
  const spent = { duration_ms: 0, money_micros: 0, tokens: 0 };
  const answer = should
    ? { ...asked, should_decompose: true as const, slices: [slice('api'), slice('web')], adapter: 'structural' }
    : { ...asked, should_decompose: false as const, adapter: null };
  return { type: 'decide_split', answer: { ...answer, confidence: 'high', spent } };
};

/** Everything that may be answered to a request to the council, in time or too late. */
export const answersToRequest = (state: Admitted, of: OfRequest): readonly Move[] => [
  { name: `${of.task.address} is split`, told: split(state, of, true), costs: 'splits' },
  { name: `${of.task.address} is not split`, told: split(state, of, false) },
];

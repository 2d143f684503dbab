import type { NewEvent, RecordedEvent } from '@fixpoint/contracts/envelope';
import { definitionOf, type EventNamed, type EventType } from '@fixpoint/contracts/events/catalogue';
import type { Verdict } from '@fixpoint/contracts/verdict';
import { eventId } from '@fixpoint/event-store/event-id';

export const HASH = 'a'.repeat(64);
const START = Date.parse('2026-01-02T03:04:05.000Z');

/** Time of the n-th event of a history, 0-based. */
export const at = (n: number): string => new Date(START + n * 1000).toISOString();

/** One event before it is stored, with the stream it belongs to. */
export interface Told {
  readonly stream: string;
  readonly root: string;
  readonly event: NewEvent;
}

/** Tells what happened, in order; every event one second after the one before. */
export const telling = () => {
  const told: Told[] = [];
  const tell = (
    stream: string,
    root: string,
    event: { type: string; data: unknown; schema_version?: number },
  ): void => {
    const index = told.length;
    const id = eventId({ causeId: stream, causeTime: at(0), handler: 'fixture', stream, index });
    const metadata = { causation_id: stream, correlation_id: root, producer: 'fixture', actor: 'local' };
    const schema_version = definitionOf(event.type)?.version ?? 1;
    told.push({ stream, root, event: { schema_version, ...event, id, metadata, occurred_at: at(index) } });
  };
  return { told, tell };
};

/** As a store would record it when nobody else writes. */
export const recorded = (told: readonly Told[]): RecordedEvent[] => {
  const versions = new Map<string, number>();
  return told.map(({ stream, root, event }, index) => {
    const version = (versions.get(stream) ?? 0) + 1;
    versions.set(stream, version);
    const cursor = { epoch: 1, xid: String(700 + index), position: String(index + 1) };
    return { ...event, root, stream, version, cursor, hash: HASH };
  });
};

export type Data<Type extends EventType> = EventNamed<Type>['data'];
export type Of<Type extends EventType> = { readonly type: Type; readonly data: Data<Type> };

export const node: Data<'node_ready'>['node'] = {
  id: 'commit',
  kind: 'action',
  goal: 'Commit it',
  recipe: { command: 'git commit -m deps' },
  postcondition: null,
  policy: 'recover',
  max_repair_attempts: 1,
  max_agent_attempts: 0,
  model: 'default',
  agent_tools: [],
  env: {},
  timeout_ms: 60_000,
};

/** Which run an event is about. */
export interface RunRef {
  readonly root: string;
  readonly task: string;
  readonly address: string;
  readonly run: number;
}

export const runOf = (root: string, task: string, run: number): RunRef => ({
  root,
  task,
  address: task === root ? '0' : '0~1',
  run,
});

export const scope = { project: 'web-shop', mode: 'build' };
const protocol = { name: 'default', version: 1, hash: HASH };
const verdict: Verdict = {
  validator: 'lint',
  severity: 'blocker',
  original_severity: 'blocker',
  error: false,
  overridable: true,
  justification: 'Two problems',
  criteria: [],
  findings: [],
  evidence_hash: HASH,
  output: null,
  duration_ms: 12,
};

export const submitted = (
  root: string,
  change: Partial<Data<'task_submitted'>['spec']> = {},
): Of<'task_submitted'> => ({
  type: 'task_submitted',
  data: {
    root,
    task: root,
    address: '0',
    scope: { ...scope, project: change.project ?? scope.project },
    spec: {
      name: 'commit-deps',
      ...scope,
      labels: { team: 'web' },
      goal: 'Dependencies are updated',
      priority: 0,
      workspace: { git: null, keep: [] },
      nodes: [node],
      ...change,
    },
    spec_hash: HASH,
    protocol,
    idempotency_key: null,
    submitted_at: at(0),
    deadline_at: at(86_400),
  },
});

export const ready = (ref: RunRef, change: Partial<Data<'node_ready'>> = {}): Of<'node_ready'> => ({
  type: 'node_ready',
  data: {
    ...ref,
    task_kind: ref.task === ref.root ? 'root' : 'fix',
    run_kind: 'normal',
    purpose: 'first',
    node,
    node_index: 0,
    last_node: true,
    scope,
    protocol,
    intent: 'Dependencies are updated',
    brief: null,
    spec_hash: HASH,
    workspace_ref: null,
    source: null,
    keep: [],
    judges: null,
    judged_by: null,
    allowance: { time_ms: 60_000, money_micros: 0, tokens: 0 },
    work_class: 'normal',
    merge: null,
    deliver: null,
    verdicts_of: null,
    decisions: [],
    ...change,
  },
});

export const gatePassed = (ref: RunRef): Of<'governance_passed'> => ({
  type: 'governance_passed',
  data: {
    ...ref,
    outcome: 'proceed',
    run_kind: 'normal',
    work: 'long',
    token: 'token',
    workspace_ref: null,
    verdicts: [],
    firewall_hash: HASH,
  },
});

export const started = (ref: RunRef): Of<'action_started'> => ({
  type: 'action_started',
  data: { ...ref, owner: 'executor-1', token_id: 't', run_kind: 'normal', node_id: 'commit' },
});

export const toolCalled = (ref: RunRef): Of<'tool_called'> => ({
  type: 'tool_called',
  data: {
    ...ref,
    seq: 1,
    rung: 'recipe',
    tool: 'recipe',
    command: 'git commit -m deps',
    outcome: 'ok',
    exit_code: 0,
    signal: null,
    duration_ms: 8,
    rule: null,
    detail: '',
    stdout: null,
    stderr: null,
  },
});

export const verified = (
  ref: RunRef,
  change: Partial<Data<'node_verified_action'>> = {},
): Of<'node_verified_action'> => ({
  type: 'node_verified_action',
  data: {
    ...ref,
    node_id: 'commit',
    run_kind: 'normal',
    outcome: 'satisfied',
    fault_class: null,
    rung: 'recipe',
    policy: 'recover',
    postcondition_met: null,
    exit_code: 0,
    recipe_hash: HASH,
    repaired_command: null,
    workspace_ref: null,
    output: null,
    output_artifact: null,
    detail: '',
    firewall_broken: null,
    spent: { duration_ms: 15.5, money_micros: 0, tokens: 0 },
    merge_conflicts: null,
    provider_fault: null,
    ...change,
  },
});

export const judged = (ref: RunRef, outcome: Data<'post_validated'>['outcome']): Of<'post_validated'> => ({
  type: 'post_validated',
  data: {
    ...ref,
    node_id: 'commit',
    outcome,
    reason: outcome,
    halt_type: outcome === 'recover' ? 'blocker' : null,
    raw_halt_type: outcome === 'recover' ? 'lint' : null,
    verdicts: outcome === 'recover' ? [verdict] : [],
    triggering_validators: outcome === 'recover' ? ['lint'] : [],
    signature: HASH,
    workspace_ref: null,
  },
});

export const spawned = (
  root: string,
  n: number,
  change: Partial<Data<'subtask_spawned'>> = {},
): Of<'subtask_spawned'> => ({
  type: 'subtask_spawned',
  data: {
    root,
    parent_ref: root,
    task_ref: `${root}.f${n}`,
    address: `0~${n}`,
    unit: root,
    scope,
    depth: 1,
    recovery_depth: 1,
    fix_attempts: n,
    triggering_validators: ['lint'],
    nodes: [{ ...node, id: 'lint', goal: 'Make lint pass' }],
    spec_hash: HASH,
    brief: { intent: 'Dependencies are updated', justifications: [], prior_failures: [] },
    judged_run: 1,
    workspace_ref: null,
    signature: HASH,
    auto_decomposed: false,
    ...change,
  },
});

export const completed = (
  root: string,
  task: string,
  outcome: 'satisfied' | 'degraded' = 'satisfied',
): Of<'task_completed'> => ({
  type: 'task_completed',
  data: {
    root,
    task,
    address: task === root ? '0' : '0~1',
    outcome,
    workspace_ref: null,
    output: null,
    output_artifact: null,
    runs: 1,
    fix_attempts: 0,
  },
});

export const skipped = (root: string, node: string, more: Partial<Data<'node_skipped'>> = {}): Of<'node_skipped'> => ({
  type: 'node_skipped',
  data: { root, task: root, address: '0', node_id: node, node_index: 1, condition: 'inputs.go', runs: 1, ...more },
});

export const blocked = (root: string, task: string): Of<'task_blocked'> => ({
  type: 'task_blocked',
  data: {
    root,
    task,
    address: '0',
    run: 1,
    halt_type: 'blocker',
    raw_halt_type: 'secrets',
    verdicts: [],
    detail: 'A key in the diff',
    runs: 1,
  },
});

export const exhausted = (root: string, ended: readonly string[]): Of<'recovery_exhausted'> => ({
  type: 'recovery_exhausted',
  data: {
    root,
    task: root,
    address: '0',
    reason: 'max_recovery_depth',
    limit: 3,
    used: 3,
    asked: 4,
    depth: 3,
    halt_type: 'recovery_exhausted',
    raw_halt_type: 'max_recovery_depth',
    triggering_validators: ['lint'],
    ended_tasks: [...ended],
  },
});

export const humanRequired = (root: string): Of<'human_required'> => ({
  type: 'human_required',
  data: {
    root,
    task: root,
    address: '0',
    handoff: `${root}-h1`,
    version: 1,
    stage: 'floor',
    halt_type: 'recovery_exhausted',
    raw_halt_type: 'max_recovery_depth',
    help: 'cannot_act',
    detail: 'Four fixes deep would be needed',
    slice: { task: root, node_id: 'commit', run: 1, goal: 'Commit it' },
    tried: { runs: 1, fix_attempts: 1, rungs: ['recipe'], fixes: [], council: 'no_council', auto_agent: null },
    verdicts: [],
    judged: null,
    evidence: null,
    cost: null,
    workspace_ref: null,
    run_open: false,
    decisions: [],
    warn_at: at(45_000),
    expires_at: at(90_000),
    on_expiry: 'keep',
  },
});

export const withdrawn = (root: string): Of<'handoff_withdrawn'> => ({
  type: 'handoff_withdrawn',
  data: { root, task: root, address: '0', handoff: `${root}-h1`, reason: 'cause_gone' },
});

export const faultRecorded = (ref: RunRef): Of<'fault_recorded'> => ({
  type: 'fault_recorded',
  data: {
    ...ref,
    phase: 'action',
    class: 'lost_executor',
    count: 1,
    count_at_last_evidence: 0,
    next_at: at(9),
    next_run: { run_kind: 'normal', workspace_ref: null, judges: null },
    output: null,
    output_artifact: null,
    detail: 'no lease',
    provider: null,
    retry_after_ms: 0,
  },
});

/** A task that needs one fix: twelve events of the lineage, nine of its runs' streams. */
export const repaired = (root: string, { told, tell }: ReturnType<typeof telling>): readonly Told[] => {
  const from = told.length;
  const fix = `${root}.f1`;
  const lineage = `lineage-${root}`;
  const pass = (task: string, number: number, outcome: Data<'post_validated'>['outcome']): void => {
    tell(`gate-${task}-${number}`, root, gatePassed(runOf(root, task, number)));
    tell(`action-${task}-${number}`, root, started(runOf(root, task, number)));
    tell(`action-${task}-${number}`, root, toolCalled(runOf(root, task, number)));
    tell(`action-${task}-${number}`, root, verified(runOf(root, task, number)));
    tell(`gate-${task}-${number}`, root, judged(runOf(root, task, number), outcome));
  };
  tell(lineage, root, submitted(root));
  tell(lineage, root, ready(runOf(root, root, 1)));
  pass(root, 1, 'recover');
  tell(lineage, root, spawned(root, 1));
  tell(lineage, root, ready(runOf(root, fix, 1)));
  pass(fix, 1, 'proceed');
  tell(lineage, root, completed(root, fix));
  tell(lineage, root, ready(runOf(root, root, 2), { run_kind: 'check', purpose: 'after_fix' }));
  pass(root, 2, 'proceed');
  tell(lineage, root, completed(root, root));
  return told.slice(from);
};

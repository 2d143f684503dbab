import { contentHash } from '@fixpoint/contracts/content-hash';
import type { ModeSpec, ValidatorSpec } from '@fixpoint/contracts/documents/protocol';
import type { NodeSpec, TaskSpec } from '@fixpoint/contracts/documents/task';
import type { EventNamed, LineageEvent } from '@fixpoint/contracts/events/catalogue';
import { judgementSignature } from '@fixpoint/contracts/signature';
import type { Verdict } from '@fixpoint/contracts/verdict';
import type { WorkspaceRef } from '@fixpoint/contracts/workspace';
import { fold } from '@fixpoint/decider/decider';
import { askCondition } from '@fixpoint/validation/condition';
import { type Admission, type Context, type Judgement, type LineageCommand, OPEN, type RunResult } from './commands.ts';
import { lineage } from './decide.ts';
import type { Admitted, Lineage, Task, Unit } from './state.ts';

export const NOW = '2026-01-01T00:00:00.000Z';
export const ROOT = 'r1';
/** What a council that does not answer is reported as. */
export const SILENCE = { class: 'no_answer', retryAfterMs: 0, detail: 'the council did not answer' } as const;
export const HASH = 'a'.repeat(64);

export const ref = (tree: string): WorkspaceRef => ({
  source: null,
  base: '0'.repeat(40),
  head: '0'.repeat(40),
  commit: contentHash(tree).slice(0, 40),
  tree: contentHash(tree).slice(0, 40),
  bundle: null,
});

export const nodeSpec = (more: Partial<NodeSpec> = {}): NodeSpec => ({
  id: 'commit',
  kind: 'action',
  goal: 'it is committed',
  recipe: { command: 'make it' },
  postcondition: { all: [{ command: 'test -f it', timeout_ms: 30_000 }] },
  policy: 'required',
  max_repair_attempts: 0,
  max_agent_attempts: 0,
  model: 'default',
  agent_tools: [],
  env: {},
  timeout_ms: 60_000,
  ...more,
});

export const taskSpec = (nodes: NodeSpec[] = [nodeSpec()]): TaskSpec => ({
  name: 'commit',
  project: 'shop',
  mode: 'build',
  labels: {},
  goal: 'All is committed',
  priority: 0,
  workspace: { git: null, keep: [] },
  nodes,
});

export const validator = (id: string, more: Partial<ValidatorSpec> = {}): ValidatorSpec => ({
  id,
  check: { command: `check ${id}` },
  severity: 'blocker',
  overridable: true,
  severity_cap: null,
  fix: { command: `fix ${id}` },
  timeout_ms: 5_000,
  on: 'node',
  ...more,
});

export const mode = (
  bounds: Partial<ModeSpec['bounds']> = {},
  post = [validator('lint'), validator('format')],
): ModeSpec => ({
  governance_rules: [],
  command_rules: [],
  pre: [],
  post,
  consensus: 'unanimous',
  recover_on: ['blocker'],
  protected: [],
  bounds: {
    max_recovery_depth: 3,
    max_total_fix_attempts: 10,
    iterations: 50,
    execute: 3,
    judge: 2,
    indeterminate: 3,
    max_decomposition_depth: 2,
    max_total_decomposition_children: 8,
    faults: 5,
    deadline_ms: 3_600_000,
    auto_agent_max_attempts: 3,
    integrate: 3,
    max_recompose_attempts: 5,
    regates: 24,
    max_money_micros: 50_000_000,
    max_tokens: 20_000_000,
    run_money_micros: 0,
    run_tokens: 0,
    ...bounds,
  },
  backoffs: { default: [1_000, 2_000, 4_000] },
  handoff_expiry_ms: 86_400_000,
  handoff_warnings: [50, 90],
  handoff_on_expiry: 'keep',
  auto_agent_model: null,
  council_timeout_ms: 900_000,
  hop_slack_ms: 300_000,
  fix_timeout_ms: 3_600_000,
});

export const verdict = (id: string, more: Partial<Verdict> = {}): Verdict => ({
  validator: id,
  severity: 'blocker',
  original_severity: 'blocker',
  error: false,
  overridable: true,
  justification: `${id} objects`,
  criteria: [],
  findings: [],
  evidence_hash: contentHash([]),
  output: null,
  duration_ms: 1,
  ...more,
});

type Data<Type extends LineageEvent['type']> = EventNamed<Type>['data'];

/** One lineage played by hand: answers go to whatever run is in flight. */
export class Play {
  readonly facts: LineageEvent[] = [];
  readonly mode: ModeSpec;
  private folded: Lineage = lineage.initial;
  now = NOW;
  /** Whose run is answered, where several are in flight. */
  private focus: string | null = null;
  admission: Admission = OPEN;
  /** What the shell knows beside the time: models that are agents, a withdrawn protocol. */
  known: Pick<Context, 'agentModels' | 'withdrawn'> = {};

  constructor(modeSpec: ModeSpec = mode()) {
    this.mode = modeSpec;
  }

  get state(): Admitted {
    if (this.folded.status === 'unknown') throw new Error('nothing was submitted');
    return this.folded;
  }

  /** What comes next is about this task, as long as it runs. */
  on(id: string): this {
    this.focus = id;
    return this;
  }

  get root(): Task {
    return this.task(ROOT);
  }

  get unit(): Unit {
    const unit = this.state.units[ROOT];
    if (!unit) throw new Error('no unit');
    return unit;
  }

  task(id: string): Task {
    const task = this.state.tasks[id];
    if (!task) throw new Error(`no task ${id}`);
    return task;
  }

  /** The node_ready that nobody has answered. */
  get ready(): Data<'node_ready'> {
    const running = Object.values(this.state.tasks).filter((each) => each.current !== null);
    const task = running.find(({ id }) => id === this.focus) ?? running[0];
    const fact = this.facts.findLast((each) => each.type === 'node_ready' && each.data.task === task?.id);
    if (fact?.type !== 'node_ready') throw new Error('no run is in flight');
    return fact.data;
  }

  /** The newest event of a type. */
  last<Type extends LineageEvent['type']>(type: Type): Data<Type> {
    const fact = this.facts.findLast((each) => each.type === type);
    if (!fact) throw new Error(`no ${type}`);
    return fact.data as Data<Type>;
  }

  count(type: LineageEvent['type']): number {
    return this.facts.filter((fact) => fact.type === type).length;
  }

  /** @returns the types of what was decided. */
  send(command: DistributiveOmit<LineageCommand, keyof Context>): string[] {
    const decided = lineage.decide(
      { ...command, ...this.known, now: this.now, admission: this.admission, mode: this.mode, askCondition },
      this.folded,
    );
    return this.take(decided);
  }

  /** What was decided has happened. */
  take(decided: readonly LineageEvent[]): string[] {
    this.facts.push(...decided);
    this.folded = fold(lineage, this.folded, decided);
    return decided.map((fact) => fact.type);
  }

  submit(spec = taskSpec()): this {
    const protocol = { name: 'p', version: 1, hash: HASH };
    this.send({ type: 'submit_task', root: ROOT, spec, specHash: contentHash(spec), protocol, idempotencyKey: null });
    return this;
  }

  result(more: Partial<RunResult> = {}): RunResult {
    const { root, task, address, run, run_kind, node } = this.ready;
    return {
      ...{ root, task, address, run, run_kind },
      node_id: node.id,
      outcome: 'satisfied',
      fault_class: null,
      rung: 'recipe',
      policy: node.policy,
      postcondition_met: true,
      exit_code: 0,
      recipe_hash: contentHash(node.recipe),
      repaired_command: null,
      workspace_ref: ref(`${task}#${run}`),
      output: null,
      output_artifact: null,
      detail: '',
      firewall_broken: null,
      spent: { duration_ms: 1, money_micros: 0, tokens: 0 },
      merge_conflicts: null,
      provider_fault: null,
      ...more,
    };
  }

  end(more: Partial<RunResult> = {}): string[] {
    return this.send({ type: 'end_run', result: this.result(more) });
  }

  unmet(tree?: string): string[] {
    const more = tree === undefined ? {} : { workspace_ref: ref(tree) };
    return this.end({ outcome: 'unmet', postcondition_met: false, detail: 'not there', ...more });
  }

  judgement(verdicts: Verdict[], more: Partial<Judgement> = {}): Judgement {
    const { root, task, address, run, node } = this.ready;
    const result = this.result();
    const tree = (more.workspace_ref ?? result.workspace_ref)?.tree ?? null;
    return {
      ...{ root, task, address, run },
      node_id: node.id,
      outcome: verdicts.length === 0 ? 'proceed' : 'recover',
      reason: 'as the verdicts say',
      halt_type: null,
      raw_halt_type: null,
      verdicts,
      triggering_validators: verdicts.map((each) => each.validator),
      signature: judgementSignature(verdicts, tree),
      workspace_ref: result.workspace_ref,
      ...more,
    };
  }

  judge(verdicts: Verdict[] = [], more: Partial<Judgement> = {}, result: Partial<RunResult> = {}): string[] {
    const workspace = more.workspace_ref === undefined ? {} : { workspace_ref: more.workspace_ref };
    return this.send({
      type: 'judge_run',
      judgement: this.judgement(verdicts, more),
      result: this.result({ ...workspace, ...result }),
    });
  }

  gate(outcome: 'halt' | 'blocked_overridable'): string[] {
    const { root, task, address, run } = this.ready;
    const told = { halt_type: 'blocker' as const, raw_halt_type: 'commands', verdicts: [verdict('commands')] };
    return this.send({ type: 'block_run', answer: { root, task, address, run, outcome, ...told } });
  }

  escalate(): string[] {
    const { root, task, address, run } = this.ready;
    const told = {
      halt_type: 'escalate' as const,
      raw_halt_type: 'warnings',
      verdicts: [verdict('size', { severity: 'warning' })],
    };
    return this.send({ type: 'escalate_run', answer: { root, task, address, run, ...told } });
  }

  refuse(reason: 'token_expired' | 'token_invalid' | 'protocol_unknown'): string[] {
    const { root, task, address, run } = this.ready;
    return this.send({ type: 'refuse_run', answer: { root, task, address, run, reason, detail: '' } });
  }

  noSplit(request = this.unit.request.number): string[] {
    const answer = {
      root: ROOT,
      task: ROOT,
      address: '0',
      request,
      should_decompose: false as const,
      reason: 'no_council',
      ...{ confidence: 'high' as const, adapter: null },
      spent: { duration_ms: 0, money_micros: 0, tokens: 0 },
    };
    return this.send({ type: 'decide_split', answer });
  }

  /** The retry that some task waits for. */
  retry(): string[] {
    const task = Object.values(this.state.tasks).find((each) => each.retry !== null);
    return this.send({
      type: 'timer_due',
      timer: { kind: 'retry', task: task?.id ?? '', run: task?.retry?.after ?? 0 },
    });
  }

  deadline(): string[] {
    return this.send({ type: 'timer_due', timer: { kind: 'deadline' } });
  }

  letter(more: Partial<EventNamed<'dead_lettered'>['data']> = {}): string[] {
    return this.send({
      type: 'dead_letter',
      letter: {
        ...{
          service: 'validator',
          reader: 'validator__gate',
          event_id: 'e1',
          event_type: 'node_ready',
          event_version: 1,
        },
        ...{ root: ROOT, task: ROOT, run: 1, deliveries: 5, reason: 'unreadable' },
        ...more,
      },
    });
  }
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

import { contentHash } from '@fixpoint/contracts/content-hash';
import type { Decision } from '@fixpoint/contracts/human-decision';
import type { Context, LineageCommand } from './commands.ts';
import type { EpicPlay } from './epics/epic.fixture.ts';
import { slices, states } from './every-state.fixture.ts';
import { HASH, NOW, nodeSpec, ROOT, SILENCE, taskSpec, verdict } from './lineage.fixture.ts';
import type { Handoff } from './state.ts';

type Bare = LineageCommand extends infer One ? (One extends unknown ? Omit<One, keyof Context> : never) : never;

const submit = (specHash: string): Bare => {
  const protocol = { name: 'p', version: 1, hash: HASH };
  return { type: 'submit_task', root: ROOT, spec: taskSpec(), specHash, protocol, idempotencyKey: null };
};

/** Answers to the run in flight; to the first run of the root where there is none. */
const toRun = (play: EpicPlay): Record<string, Bare> => {
  const isRunning = Object.values(play.state.tasks).some(({ current }) => current !== null);
  const probe = isRunning ? play : states.running();
  const { root, task, address, run } = probe.ready;
  const at = { root, task, address, run };
  const told = { halt_type: 'blocker' as const, raw_halt_type: 'x', verdicts: [] };
  const fault = { task, run, class: 'no_answer', retryAfterMs: 0, detail: '', result: null } as const;
  const spec = { ...taskSpec([nodeSpec({ id: 'part' })]), name: 'part' };
  return {
    halt: { type: 'block_run', answer: { ...at, outcome: 'halt', ...told } },
    escalate: { type: 'escalate_run', answer: { ...at, ...told } },
    refuse: { type: 'refuse_run', answer: { ...at, reason: 'token_expired', detail: '' } },
    satisfied: { type: 'end_run', result: probe.result() },
    unmet: { type: 'end_run', result: probe.result({ outcome: 'unmet' }) },
    indeterminate: { type: 'end_run', result: probe.result({ outcome: 'indeterminate' }) },
    faulted: { type: 'end_run', result: probe.result({ outcome: 'faulted', fault_class: 'disk' }) },
    proceed: { type: 'judge_run', judgement: probe.judgement([]), result: probe.result() },
    recover: { type: 'judge_run', judgement: probe.judgement([verdict('format')]), result: probe.result() },
    'no answer': { type: 'fault_run', phase: 'action', effects: 'possible', ...fault },
    'not begun': { type: 'regate_run', task, run, detail: '' },
    'hand in a child': { type: 'submit_child', task, run, key: 'k', spec, specHash: contentHash(spec) },
  };
};

const toCouncil = (play: EpicPlay): Record<string, Bare> => {
  const [task = ROOT] = Object.entries(play.state.units).find(([, { request }]) => request.open) ?? [];
  const request = play.unitOf(task).request.number;
  const answer = {
    root: ROOT,
    task,
    address: play.task(task).address,
    request,
    reason: 'r',
    confidence: 'high',
  } as const;
  const spent = { duration_ms: 0, money_micros: 0, tokens: 0 };
  return {
    split: {
      type: 'decide_split',
      answer: { ...answer, should_decompose: true, slices, adapter: 'structural', spent },
    },
    'no split': { type: 'decide_split', answer: { ...answer, should_decompose: false, adapter: null, spent } },
    'no council': { type: 'give_up_request', task, request, ...SILENCE },
  };
};

const toTime = (play: EpicPlay): Record<string, Bare> => {
  const tasks = Object.values(play.state.tasks);
  const retrying = tasks.find(({ retry }) => retry !== null);
  const waiting = tasks.find(({ queued }) => queued !== null);
  const timer = { kind: 'retry', task: retrying?.id ?? ROOT, run: retrying?.retry?.after ?? 1 } as const;
  const attempt = Object.values(play.state.epics)[0]?.recompose.failed ?? 0;
  return {
    turn: { type: 'start_queued', task: waiting?.id ?? ROOT, run: waiting?.queued?.run ?? 1 },
    'retry due': { type: 'timer_due', timer },
    'request due': { type: 'timer_due', timer: { kind: 'request', task: ROOT, request: 1 } },
    'recompose due': { type: 'timer_due', timer: { kind: 'recompose', task: ROOT, attempt } },
    deadline: { type: 'timer_due', timer: { kind: 'deadline' } },
    sweep: { type: 'sweep_unit', task: ROOT },
  };
};

/** About the open handoff; about one that never was where there is none. */
const toHuman = (play: EpicPlay): Record<string, Bare> => {
  const open = Object.values(play.state.units).find(({ handoff }) => handoff !== null)?.handoff;
  const about = { handoff: open?.id ?? `${ROOT}.h9`, version: open?.version ?? 1 };
  const who = {
    actor: 'ada',
    authenticated: 'api_key',
    signature: 'a.b.c',
    comment: null,
    commentArtifact: null,
  } as const;
  const decide = (decision: Decision): Bare => {
    const nodes = decision.kind === 'amend' ? [nodeSpec({ recipe: { command: 'make it better' } })] : null;
    return { type: 'decide_handoff', ...about, ...who, decisionId: 'd', decision, nodes };
  };
  return {
    amend: decide({ kind: 'amend', spec_hash: HASH }),
    retry: decide({ kind: 'retry', from_node: null }),
    resolve: decide({ kind: 'resolve', ref: null, exclude_children: [] }),
    'ask for a split': decide({ kind: 'split', hint: 'by layer' }),
    cancel: { type: 'cancel_task', task: ROOT, reason: 'not needed any more' },
    claim: { type: 'claim_handoff', ...about, actor: 'ada', forMs: 60_000 },
    ...lifeOf(open ?? null),
  };
};

const lifeOf = (open: Handoff | null): Record<string, Bare> => {
  const handoff = open?.id ?? `${ROOT}.h9`;
  const task = handoff.replace(/\.h\d+$/, '');
  const due = (kind: 'warning' | 'expiry', dueAt = NOW): Bare => ({
    type: 'timer_due',
    timer: { kind, task, handoff, dueAt },
  });
  return { 'warning due': due('warning', open?.warnAt), 'time is over': due('expiry', open?.expiresAt) };
};

const aboutLetters = (): Record<string, Bare> => {
  const about = { reader: 'validator__gate', event_id: 'e1', event_type: 'node_ready' };
  const letter = { service: 'validator', event_version: 1, root: ROOT, task: ROOT, run: 1, deliveries: 5 };
  return {
    'dead letter': { type: 'dead_letter', letter: { ...about, ...letter, reason: 'unreadable' } },
    'dead letter replayed': { type: 'end_dead_letter', ended: 'dead_letter_replayed', letter: about },
  };
};

/** Every command, as it would be said to a lineage in this state. */
export const commandsFor = (play: EpicPlay): Record<string, Bare> => ({
  submit: submit(play.state.submittedHash),
  'submit other': submit(HASH),
  ...toRun(play),
  ...toCouncil(play),
  ...toTime(play),
  ...toHuman(play),
  ...aboutLetters(),
});

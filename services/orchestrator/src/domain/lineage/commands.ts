import type { ModeSpec, ProtocolRef } from '@fixpoint/contracts/documents/protocol';
import type { NodeSpec, TaskSpec } from '@fixpoint/contracts/documents/task';
import type { EventNamed, EventType } from '@fixpoint/contracts/events/catalogue';
import type { FaultClass } from '@fixpoint/contracts/events/executor-events';
import type { Authenticated, Decision } from '@fixpoint/contracts/human-decision';
import type { NodeData } from './node-data.ts';

type Data<Type extends EventType> = EventNamed<Type>['data'];

export type RunResult = Data<'node_verified_action'>;
export type Judgement = Data<'post_validated'>;

/** What a condition comes to; `detail` says why it can not be answered. */
export type ConditionAnswer = { readonly holds: boolean } | { readonly detail: string };

/** Asks a condition (CEL) of `inputs` and `nodes`. Evaluating an expression is no business of the domain. */
export type AskCondition = (condition: string, values: NodeData) => ConditionAnswer;

/** What stands in the way of a new run just now, as far as the deciding process knows. */
export interface Admission {
  /** Runs in flight are below the window. */
  readonly room: boolean;
  /** Providers that nobody is to ask for now. */
  readonly paused: readonly string[];
}

/** Nothing stands in the way of a new run. */
export const OPEN: Admission = { room: true, paused: [] };

/** What every decision may look at besides the history: the time, the pinned mode, and what conditions come to. */
export interface Context {
  /** ISO 8601, UTC. */
  readonly now: string;
  /** Left out: {@link OPEN}. */
  readonly admission?: Admission;
  readonly mode: ModeSpec;
  readonly askCondition: AskCondition;
  /** Models that can act as an agent in this installation; left out: none. */
  readonly agentModels?: readonly string[];
  /** Why the protocol version of the lineage was withdrawn; left out or null: it was not. */
  readonly withdrawn?: string | null;
}

export interface SubmitTask {
  readonly type: 'submit_task';
  readonly root: string;
  readonly spec: TaskSpec;
  readonly specHash: string;
  readonly protocol: ProtocolRef;
  readonly idempotencyKey: string | null;
  /** Of work that a producer could not finish; left out where somebody submits a task. */
  readonly origin?: Data<'task_submitted'>['origin'];
  /** What a producer says is wrong is the machinery and not the work. */
  readonly aboutMachinery?: boolean;
}

/** The gate said no: halt, or an overridable blocker that a human may lift. */
export interface BlockRun {
  readonly type: 'block_run';
  readonly answer: Data<'governance_blocked'>;
}

/** The gate withholds its approval. */
export interface EscalateRun {
  readonly type: 'escalate_run';
  readonly answer: Data<'governance_escalated'>;
}

export interface RefuseRun {
  readonly type: 'refuse_run';
  readonly answer: Data<'run_refused'>;
}

export interface EndRun {
  readonly type: 'end_run';
  readonly result: RunResult;
}

/** A judgement together with the result that it is about. */
export interface JudgeRun {
  readonly type: 'judge_run';
  readonly judgement: Judgement;
  readonly result: RunResult;
}

export interface FaultRun {
  readonly type: 'fault_run';
  readonly task: string;
  readonly run: number;
  readonly phase: 'gate' | 'action' | 'judge';
  readonly class: FaultClass;
  readonly retryAfterMs: number;
  readonly detail: string;
  /** What the run left, when its execution had ended. */
  readonly result: RunResult | null;
  /** The run may have had effects that nobody reported: only a check tells. */
  readonly effects: 'none' | 'possible';
}

/** Nobody had begun the run when its hop's time was over, and by now nobody can. */
export interface RegateRun {
  readonly type: 'regate_run';
  readonly task: string;
  readonly run: number;
  readonly detail: string;
}

export interface DecideSplit {
  readonly type: 'decide_split';
  readonly answer: Data<'split_decided'>;
}

/** The council could not answer: within its time-out, or at all. */
export interface GiveUpRequest {
  readonly type: 'give_up_request';
  readonly task: string;
  readonly request: number;
  readonly class: FaultClass;
  readonly retryAfterMs: number;
  readonly detail: string;
  /** Whose it was, as whoever met it names it; left out or null: ours. */
  readonly provider?: string | null;
}

export interface DeadLetter {
  readonly type: 'dead_letter';
  readonly letter: Data<'dead_lettered'>;
}

/** Somebody replayed or discarded the dead letter: its handoff has lost its cause. */
export interface EndDeadLetter {
  readonly type: 'end_dead_letter';
  readonly letter: Pick<Data<'dead_letter_replayed'>, 'reader' | 'event_id' | 'event_type'>;
  readonly ended: 'dead_letter_replayed' | 'dead_letter_discarded';
}

/** A human decided; what it binds to was looked up where it was signed. */
export interface DecideHandoff {
  readonly type: 'decide_handoff';
  readonly handoff: string;
  /** What whoever decides has seen. */
  readonly version: number;
  readonly decisionId: string;
  readonly decision: Decision;
  /** Of an `amend`. */
  readonly nodes: readonly NodeSpec[] | null;
  readonly actor: string;
  readonly authenticated: Authenticated;
  readonly signature: string;
  readonly comment: string | null;
  readonly commentArtifact: string | null;
}

/** Somebody looks after a handoff for a while. */
export interface ClaimHandoff {
  readonly type: 'claim_handoff';
  readonly handoff: string;
  readonly version: number;
  readonly actor: string;
  readonly forMs: number;
}

export type Timer =
  | { readonly kind: 'retry'; readonly task: string; readonly run: number }
  | { readonly kind: 'request'; readonly task: string; readonly request: number }
  | { readonly kind: 'recompose'; readonly task: string; readonly attempt: number }
  /** A part of the life of a handoff is over, or all of it; `dueAt` as the handoff says (ISO). */
  | { readonly kind: 'warning' | 'expiry'; readonly task: string; readonly handoff: string; readonly dueAt: string }
  | { readonly kind: 'deadline' };

/** The turn of a queued run has come. */
export interface StartQueued {
  readonly type: 'start_queued';
  readonly task: string;
  readonly run: number;
}

export interface TimerDue {
  readonly type: 'timer_due';
  readonly timer: Timer;
}

/** Work that a run hands in, under its own token. */
export interface SubmitChild {
  readonly type: 'submit_child';
  readonly task: string;
  readonly run: number;
  readonly key: string;
  readonly spec: TaskSpec;
  readonly specHash: string;
}

/** Work that a producer could not finish, out of this lineage. */
export interface EscalateChild {
  readonly type: 'escalate_child';
  readonly key: string;
  readonly spec: TaskSpec;
  readonly specHash: string;
  readonly origin: NonNullable<SubmitTask['origin']>;
  readonly aboutMachinery: boolean;
}

/** Now and then: is there a unit that waits for nothing any more? */
export interface SweepUnit {
  readonly type: 'sweep_unit';
  readonly task: string;
}

export interface CancelTask {
  readonly type: 'cancel_task';
  /** Id of a root or child. */
  readonly task: string;
  readonly reason: string;
}

export type LineageCommand = Context &
  (
    | SubmitTask
    | BlockRun
    | EscalateRun
    | RefuseRun
    | EndRun
    | JudgeRun
    | FaultRun
    | RegateRun
    | DecideSplit
    | SubmitChild
    | EscalateChild
    | SweepUnit
    | GiveUpRequest
    | DeadLetter
    | EndDeadLetter
    | TimerDue
    | StartQueued
    | DecideHandoff
    | ClaimHandoff
    | CancelTask
  );

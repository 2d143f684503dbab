import type { OnExpiry, ProtocolRef } from '@fixpoint/contracts/documents/protocol';
import type { NodeSpec, PartSpec } from '@fixpoint/contracts/documents/task';
import type { EventNamed, LineageEvent } from '@fixpoint/contracts/events/catalogue';
import type { NodeCounters } from '@fixpoint/contracts/events/ended-events';
import type { FaultClass, RunOutcome } from '@fixpoint/contracts/events/executor-events';
import type { Help, Judged, Stage } from '@fixpoint/contracts/events/handoff-events';
import type { NodeReady } from '@fixpoint/contracts/events/lineage-events';
import type { Concurrency } from '@fixpoint/contracts/events/queue-events';
import type { Brief } from '@fixpoint/contracts/events/recovery-events';
import type { RunKind, TaskKind } from '@fixpoint/contracts/events/run-kind';
import type { Scope } from '@fixpoint/contracts/events/scope';
import type { Json } from '@fixpoint/contracts/json';
import type { HaltType, Verdict } from '@fixpoint/contracts/verdict';
import type { GitSource, WorkspaceRef } from '@fixpoint/contracts/workspace';
import type { Basis } from './basis.ts';
import type { Budget } from './budget/budget.ts';
import type { HeldOutput } from './held-output.ts';
import type { RunPlan } from './run-plan.ts';

/** The run in flight. */
export interface Run {
  readonly run: number;
  readonly kind: RunKind;
  readonly startRef: WorkspaceRef | null;
  readonly judges: number | null;
  /** How often in a row nobody had begun it: its token expired, or its hop's time was over. */
  readonly regates: number;
}

/** A run that follows when its time has come. */
export interface Retry {
  /** The run that ended; names the timer. */
  readonly after: number;
  readonly at: string;
  readonly kind: RunKind;
  readonly purpose: NodeReady['purpose'];
  readonly startRef: WorkspaceRef | null;
  readonly judges: number | null;
}

/** A run that waits for its turn, under the number that it will have. */
export interface QueuedRun {
  readonly run: number;
  readonly plan: RunPlan;
  readonly regates: number;
  /** ISO 8601. */
  readonly since: string;
  /** For money, tokens or time: only more of them lets it start. */
  readonly held: boolean;
}

/** What a run of the current node showed. */
export interface RunEvidence {
  readonly run: number;
  readonly outcome: RunOutcome;
  readonly exitCode: number | null;
  readonly recipeHash: string;
  readonly ref: WorkspaceRef | null;
}

/** What later nodes know of a node. */
export interface NodeResult {
  readonly outcome: 'satisfied' | 'degraded' | 'skipped';
  /** What was put out and proven; null when there is none. */
  readonly output: Json;
  /** There is an output, and it is too large to stand in an event. */
  readonly tooLarge: boolean;
}

/** Where the current node stands; starts anew with every node. */
export interface NodeProgress {
  readonly counters: NodeCounters;
  /** What humans added to the bounds of this node. */
  readonly granted: NodeCounters;
  readonly last: RunEvidence | null;
  readonly lastNormal: RunEvidence | null;
  /** The last that did something to the workspace: the recipe's, or an agent's. */
  readonly lastWork: RunEvidence | null;
  readonly lastSatisfied: RunEvidence | null;
}

/**
 * `superseded`: split, and its children do the work until it is recomposed (`open` again) or rolled up. `ended`: a fix
 * whose closure has ended. All others but `open` are terminal.
 */
export type TaskStatus = 'open' | 'superseded' | 'completed' | 'blocked' | 'cancelled' | 'abandoned' | 'ended';

export interface Task extends HeldOutput {
  readonly id: string;
  readonly address: string;
  readonly kind: TaskKind;
  readonly parent: string | null;
  /** The root or child whose recovery closure this task belongs to; itself for those. */
  readonly unit: string;
  readonly depth: number;
  /** Split links from the root; a fix has its unit's. */
  readonly splitDepth: number;
  readonly status: TaskStatus;
  readonly specHash: string;
  readonly nodes: readonly NodeSpec[];
  /** How it may be cut, should it stall: declared by whoever wrote it. */
  readonly parts: readonly PartSpec[];
  /** Lists of globs, its own and those of what it was cut out of: it changes only what is under some glob of each. */
  readonly within?: readonly (readonly string[])[];
  readonly nodeIndex: number;
  readonly inputs: Readonly<Record<string, Json>>;
  /** By node id. Kept only where some node takes data. */
  readonly results: Readonly<Record<string, NodeResult>>;
  readonly takesData: boolean;
  readonly goal: string;
  readonly brief: Brief | null;
  readonly triggering: readonly string[];
  /** Moves only when a node is completed. */
  readonly accepted: WorkspaceRef | null;
  /** What a completed fix of this task left; null when there is none or its recovery ended. */
  readonly candidate: WorkspaceRef | null;
  readonly runs: number;
  readonly current: Run | null;
  readonly queued: QueuedRun | null;
  readonly retry: Retry | null;
  /** Of the newest run; a run that takes its place rests on the same. */
  readonly basis: Basis;
  readonly node: NodeProgress;
  readonly degraded: boolean;
  /** Of the current node's last good run, until the node is completed. */
  readonly heldOutput: HeldOutput;
  /** Failed judgements so far. */
  readonly signatures: readonly string[];
  /** Fixes spawned by this task. */
  readonly fixes: number;
  /** The epic whose children do its work; null as long as it was never split. */
  readonly epic: string | null;
  /** The epic that it is a child of. */
  readonly memberOf: string | null;
  /** A child's base: where its first run started, moved only by a merge that failed. */
  readonly baseRef: WorkspaceRef | null;
  /** The current node is completed or skipped, and no run of a next one was made yet. */
  readonly nodeDone: boolean;
  /** All nodes are done, and what they left is being landed. */
  readonly landing: 'integrate' | 'deliver' | null;
  /** Merges into its epic that failed. */
  readonly conflicts: number;
  /** Of a child that a run submitted. */
  readonly submission: Submission | null;
  /** Nodes that it left and may come back to, by index: their counters, and what humans added to their bounds. */
  readonly passed: Readonly<Record<number, NodeCounters & Pick<NodeProgress, 'granted'>>>;
}

export interface Submission {
  readonly node: string;
  readonly key: string;
  /** Place of the node whose run submitted it: later ones are told of the result. */
  readonly nodeIndex: number;
}

export interface EpicChild extends HeldOutput {
  readonly task: string;
  readonly name: string;
  readonly state: 'open' | 'resolved' | 'excluded';
  readonly outcome: 'satisfied' | 'degraded' | null;
}

/** The children of a unit. `submitted`: those that its runs handed in; it waits for them and is not superseded. */
export interface Epic {
  readonly id: string;
  readonly task: string;
  readonly kind: 'split' | 'container' | 'submitted';
  readonly closesBy: 'recompose' | 'rollup';
  /** What the children have landed so far; null for the lineage's source. */
  readonly ref: WorkspaceRef | null;
  readonly children: readonly EpicChild[];
  /** The node of the unit that had stalled. */
  readonly nodeIndex: number;
  readonly recompose: {
    readonly started: number;
    readonly failed: number;
    /** Of the newest failure. */
    readonly signature: string | null;
    readonly retryAt: string | null;
  };
  readonly closed: boolean;
}

/** What makes two causes of a handoff the same one. */
export type HandoffCause = Readonly<Record<'rawHaltType' | 'detail', string>>;

/** A verdict as far as a decision may lift it. */
export type Liftable = Pick<Verdict, 'validator' | 'severity' | 'error' | 'overridable' | 'evidence_hash'>;

/** What stood still when the handoff was opened, and would have gone on. */
export interface Paused {
  /** The task that stood still. */
  readonly task: string;
  readonly run: Run | null;
  readonly queued: RunPlan | null;
  readonly retry: Retry | null;
  /** The council had been asked, or was to be asked again. */
  readonly council: boolean;
}

export interface Handoff {
  readonly id: string;
  /** What a decision must name. */
  readonly version: number;
  /** The same cause is not added twice. */
  readonly causes: readonly (HandoffCause & { readonly stage: Stage; readonly help: Help })[];
  readonly slice: { readonly task: string; readonly nodeId: string | null };
  readonly judged: Judged | null;
  readonly verdicts: readonly Liftable[];
  readonly paused: Paused;
  readonly claim: { readonly by: string; readonly until: string } | null;
  /** The next warning, or the end. */
  readonly warnAt: string;
  readonly expiresAt: string;
  readonly onExpiry: OnExpiry;
  /** Percent of its life that people were told of; 100 once its time is over. */
  readonly warned: number;
}

export interface Stall {
  readonly run: number;
  readonly haltType: HaltType;
  readonly rawHaltType: string;
  readonly counter: EventNamed<'task_stalled'>['data']['counter'];
  readonly detail: string;
  /** It was looked whether the goal is met meanwhile, and nobody has tried anything since. */
  readonly checked: boolean;
}

export interface FaultCount {
  readonly count: number;
  readonly atLastEvidence: number;
}

/** What belongs to a root or child and all its fixes together. */
export interface Unit {
  readonly affinity: number;
  /** The affinity that it began with. */
  readonly start: number;
  readonly fixAttempts: number;
  readonly depthReached: number;
  readonly runs: number;
  /** A fix was spawned and the closure has neither resolved nor ended since. */
  readonly recovering: boolean;
  readonly failures: Brief['prior_failures'];
  readonly faults: Readonly<Partial<Record<FaultClass, FaultCount>>>;
  readonly stall: Stall | null;
  /** A human was told that the protocol of the lineage was withdrawn. */
  readonly toldOfWithdrawal: boolean;
  readonly agentAttempts: number;
  readonly request: {
    readonly number: number;
    readonly open: boolean;
    readonly retryAt: string | null;
    /** Splits that were refused. */
    readonly refused: number;
  };
  readonly handoff: Handoff | null;
  readonly handoffs: number;
  /** A human said that it is done: what a check finds goes back to a human at once. */
  readonly resolving: boolean;
  /** A handoff ran out of time and was tried once more; it happens once. */
  readonly retriedByTimer: boolean;
  readonly rungs: readonly string[];
}

export interface Admitted {
  readonly status: 'admitted';
  readonly root: string;
  readonly scope: Scope;
  readonly protocol: ProtocolRef;
  readonly intent: string;
  readonly source: GitSource | null;
  readonly keep: readonly string[];
  readonly concurrency: Concurrency | null;
  /** Where the root's result is pushed to; null: it stays an artifact. */
  readonly deliver: { readonly url: string; readonly branch: string } | null;
  readonly deadlineAt: string;
  readonly deadlinePassed: boolean;
  /** Hash of the task as it was submitted; a human may amend it later. */
  readonly submittedHash: string;
  /** Id of the decision by handoff. */
  readonly decided: Readonly<Record<string, string>>;
  /** Dead letters that a human was told of, whatever came of it: heard of again, they say nothing new. */
  readonly letters: readonly string[];
  readonly budget: Budget;
  readonly tasks: Readonly<Record<string, Task>>;
  readonly units: Readonly<Record<string, Unit>>;
  readonly epics: Readonly<Record<string, Epic>>;
  /** Children made in the whole lineage; never falls. */
  readonly childrenUsed: number;
}

export type Lineage = { readonly status: 'unknown' } | Admitted;

export type Facts = readonly LineageEvent[];

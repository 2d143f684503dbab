import { contentHash } from '@fixpoint/contracts/content-hash';
import type { Bounds, ModeSpec } from '@fixpoint/contracts/documents/protocol';
import type { Decision } from '@fixpoint/contracts/human-decision';
import { boundsOf } from '@fixpoint/orchestrator/domain/lineage/budget/effective-bounds';
import type { Admitted, Handoff, Task } from '@fixpoint/orchestrator/domain/lineage/state';
import { holds, isLive } from '@fixpoint/orchestrator/domain/lineage/tree';
import type { Move, Told } from './answers.ts';

/** A unit, and what its handoff asks. */
interface Asked {
  readonly state: Admitted;
  readonly task: Task;
  readonly handoff: Handoff;
  readonly mode: ModeSpec;
}

/** What one more of makes room again. */
const EXTENDED = [
  ...(['execute', 'judge', 'iterations', 'indeterminate', 'max_total_fix_attempts', 'max_recovery_depth'] as const),
  ...(['integrate', 'max_recompose_attempts', 'faults'] as const),
] satisfies readonly (keyof Bounds)[];

const DAY_MS = 86_400_000;

/** One more of everything that is counted, and another day where the time was up. */
const extended = ({ state, task, mode }: Asked): Decision => {
  const bounds = boundsOf({ mode, state }, task);
  const time = state.deadlinePassed ? { deadline_ms: bounds.deadline_ms + DAY_MS } : {};
  return {
    kind: 'extend',
    limits: { ...Object.fromEntries(EXTENDED.map((name) => [name, bounds[name] + 1])), ...time },
  };
};

/** Lifts all that the kind may lift of what the handoff shows. */
const lifting = ({ task, handoff: { judged, verdicts } }: Asked, kind: 'approve' | 'override'): readonly Decision[] => {
  const wanted = kind === 'approve' ? 'warning' : 'blocker';
  const lifts = verdicts.filter(({ severity }) => severity === wanted);
  if (judged === null || lifts.length === 0) return [];
  const { run, phase, spec_hash, workspace_ref: ref } = judged;
  const bound = { task: task.id, run, phase, spec_hash, tree: ref?.tree ?? null };
  return [{ kind, ...bound, lifts: lifts.map(({ validator, evidence_hash }) => ({ validator, evidence_hash })) }];
};

/** The unit goes on without the children that will never be done, or with what a human did. */
const resolving = ({ state, task }: Asked): readonly Decision[] => {
  const children = state.epics[task.epic ?? '']?.children ?? [];
  const held = children.filter((child) => holds(state, child)).map((child) => child.task);
  const without = held.length === 0 ? [] : [{ kind: 'resolve', ref: null, exclude_children: held } as const];
  return [{ kind: 'resolve', ref: null, exclude_children: [] }, ...without];
};

const amendedNodes = ({ nodes }: Task) =>
  nodes.map((node) => ({ ...node, recipe: { command: 'make it better' } as const }));

const formsOf = (asked: Asked): readonly Decision[] => [
  { kind: 'retry', from_node: null },
  ...asked.task.nodes.slice(0, 1).map(({ id }): Decision => ({ kind: 'retry', from_node: id })),
  ...(asked.task.nodes.length === 0
    ? []
    : [{ kind: 'amend', spec_hash: contentHash(amendedNodes(asked.task)) } as const]),
  ...lifting(asked, 'approve'),
  ...lifting(asked, 'override'),
  { kind: 'split', hint: null },
  ...resolving(asked),
  extended(asked),
  { kind: 'abandon' },
];

interface Said {
  readonly decision: Decision;
  readonly handoff: string;
  readonly version: number;
  readonly decisionId: string;
}

const decide = ({ decision, ...said }: Said, task: Task): Told => ({
  ...{ type: 'decide_handoff', ...said, decision },
  nodes: decision.kind === 'amend' ? amendedNodes(task) : null,
  ...{ actor: 'ada', authenticated: 'api_key', signature: 'a.b.c', comment: null, commentArtifact: null },
});

const asks = (state: Admitted, mode: ModeSpec): readonly Asked[] =>
  Object.entries(state.units).flatMap(([id, { handoff }]) => {
    const task = state.tasks[id];
    return handoff === null || task === undefined ? [] : [{ state, task, handoff, mode }];
  });

const nameOf = (task: Task, decision: Decision): string => {
  if (decision.kind === 'retry' && decision.from_node !== null) return `a human: ${task.address} retry from a node`;
  const without = decision.kind === 'resolve' && decision.exclude_children.length > 0 ? ' without children' : '';
  return `a human: ${task.address} ${decision.kind}${without}`;
};

/** A decision about an open handoff, as it may be taken or refused. */
export interface HumanMove extends Move {
  readonly task: string;
  readonly kind: Decision['kind'];
}

/** Every decision about every open handoff, whether it is allowed there or not. */
export const decisionsIn = (state: Admitted, mode: ModeSpec): readonly HumanMove[] =>
  asks(state, mode).flatMap((asked) =>
    formsOf(asked).map((decision) => {
      const { id: handoff, version } = asked.handoff;
      const said = { decision, handoff, version, decisionId: `of ${handoff}` };
      const { task } = asked;
      const told = decide(said, task);
      return { name: nameOf(task, decision), told, costs: 'decisions', task: task.id, kind: decision.kind };
    }),
  );

/** A cancel of each unit that is live. */
export const cancelsIn = (state: Admitted): readonly Move[] =>
  Object.values(state.tasks)
    .filter((task) => task.kind !== 'fix' && isLive(task))
    .map(({ id, address }) => ({
      name: `${address} is cancelled`,
      told: { type: 'cancel_task', task: id, reason: 'nobody wants it' },
      costs: 'cancels',
    }));

/** Decisions about a handoff that is over or has moved on, or that were heard; cancels of what has ended. */
export const lateFrom = (state: Admitted, task: Task): readonly Move[] => {
  const { handoff = null, handoffs = 0 } = state.units[task.id] ?? {};
  const over = handoff === null ? handoffs : handoffs - 1;
  const last = `${task.id}.h${over}`;
  const abandon = (said: Omit<Said, 'decision'>): Told => decide({ decision: { kind: 'abandon' }, ...said }, task);
  const move = (name: string, told: Told): Move => ({ name: `a human: ${task.address} ${name}`, told });
  return [
    ...(over === 0
      ? []
      : [
          move('abandon, of a handoff that is over', abandon({ handoff: last, version: 1, decisionId: 'late' })),
          move('abandon once more', abandon({ handoff: last, version: 1, decisionId: state.decided[last] ?? 'late' })),
        ]),
    ...(handoff === null
      ? []
      : [
          move(
            'abandon, of another version',
            abandon({ handoff: handoff.id, version: handoff.version + 1, decisionId: 'late' }),
          ),
        ]),
    ...(isLive(task) || task.kind === 'fix'
      ? []
      : [move('is cancelled late', { type: 'cancel_task', task: task.id, reason: 'too late' })]),
  ];
};

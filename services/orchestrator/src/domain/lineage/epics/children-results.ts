import type { NodeSpec } from '@fixpoint/contracts/documents/task';
import { jsonBytes } from '../bounded.ts';
import { nodeOf } from '../lookup.ts';
import type { Admitted, EpicChild, Task } from '../state.ts';
import { ownEpicOf, submittedEpicOf } from '../tree.ts';

/** Under this name a run finds what the children of its task came to, as JSON. */
export const CHILDREN_VARIABLE = 'FIXPOINT_CHILDREN';

/** A run's event holds the node and more beside it. */
const RESULTS_BYTES = 12 * 1024;

/** A node of a unit that has children, with their results; as it is for any other. */
export const withChildren = (nodeIndex: number, task: Task, state: Admitted): NodeSpec => {
  const node = nodeOf(task, nodeIndex);
  const children = task.kind === 'fix' ? [] : resultsFor(state, task, nodeIndex);
  if (children.length === 0) return node;
  return { ...node, env: { ...node.env, [CHILDREN_VARIABLE]: bounded(children.map(said(state))) } };
};

/** Of its split, and of what the runs of nodes before this one submitted: the same for all runs of the node. */
const resultsFor = (state: Admitted, task: Task, nodeIndex: number): readonly EpicChild[] => {
  const split = ownEpicOf(state, task)?.children ?? [];
  const submitted = state.epics[submittedEpicOf(task.id)]?.children ?? [];
  const before = submitted.filter(({ task: id }) => (state.tasks[id]?.submission?.nodeIndex ?? 0) < nodeIndex);
  return [...split, ...before].filter((child) => child.state === 'resolved');
};

const said =
  (state: Admitted) =>
  ({ task, name, outcome, output, outputArtifact }: EpicChild) => ({
    ...{ task, name, outcome, output, output_artifact: outputArtifact },
    commit: state.tasks[task]?.accepted?.commit ?? null,
  });

type Said = ReturnType<ReturnType<typeof said>>;

/** What is too large stands in the events of the children. */
const bounded = (children: readonly Said[]): string => {
  if (jsonBytes(children) <= RESULTS_BYTES) return JSON.stringify(children);
  return JSON.stringify(children.map((child) => ({ ...child, output: null, output_too_large: child.output !== null })));
};

import { at, HASH, node, type Of, scope } from './history.fixture.ts';

/** A split of a unit into children that are numbered from 1. */
export const epicOpened = (
  root: string,
  children: number,
  { task = root, address = '0', total = children }: { task?: string; address?: string; total?: number } = {},
): Of<'epic_opened'> => ({
  type: 'epic_opened',
  data: {
    root,
    task,
    address,
    scope,
    epic: `${task}.e1`,
    request: 1,
    kind: 'split',
    closes_by: 'recompose',
    base_ref: null,
    children: Array.from({ length: children }, (_, index) => ({
      task: `${task}.${index + 1}`,
      address: `${address}.${index + 1}`,
      name: `slice ${index + 1}`,
      goal: 'A slice of it',
      inputs: {},
      nodes: [node],
      spec_hash: HASH,
      salvage: index === 0,
      parts: [],
      failure_signal: { intent: 'Dependencies are updated', justifications: [], prior_failures: [] },
    })),
    split_depth: address.split('.').length,
    lineage_children: total,
    ended_tasks: [],
    revoked_runs: [],
    auto_decomposed: true,
  },
});

const aboutEpic = (root: string) => ({ root, task: root, address: '0', epic: `${root}.e1` });

export const childResolved = (root: string, child: string, left: number): Of<'epic_child_resolved'> => ({
  type: 'epic_child_resolved',
  data: {
    ...aboutEpic(root),
    child,
    outcome: 'satisfied',
    epic_ref: null,
    output: null,
    output_artifact: null,
    left,
  },
});

export const recomposeStarted = (root: string, attempt: number): Of<'recompose_started'> => ({
  type: 'recompose_started',
  data: { ...aboutEpic(root), attempt, node_index: 0, workspace_ref: null },
});

export const recomposeFailed = (root: string, attempt: number): Of<'recompose_failed'> => ({
  type: 'recompose_failed',
  data: {
    ...aboutEpic(root),
    attempt,
    limit: 5,
    signature: HASH,
    reason: 'unmet',
    next_at: at(9_000),
    repeated: attempt > 1,
  },
});

export const epicClosed = (root: string, children: number): Of<'epic_closed'> => ({
  type: 'epic_closed',
  data: { ...aboutEpic(root), by: 'recompose', outcome: 'satisfied', children, excluded: 0 },
});

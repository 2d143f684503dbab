import { childAddress, taskIdAt } from '@fixpoint/contracts/addresses';
import { contentHash } from '@fixpoint/contracts/content-hash';
import type { EventNamed, LineageEvent } from '@fixpoint/contracts/events/catalogue';
import type { Slice } from '@fixpoint/contracts/events/decomposer-events';
import type { ChildSpec } from '@fixpoint/contracts/events/epic-events';
import { jsonBytes } from '../bounded.ts';
import { boundsOf } from '../budget/effective-bounds.ts';
import { councilRequest } from '../council-request.ts';
import { enterNode } from '../enter-node.ts';
import { withdrawal } from '../handoff.ts';
import { childrenBound, splitDepthBound } from '../limits.ts';
import { followedBy, refOf, startOf, type Turn, taskOf, unitOf } from '../lookup.ts';
import { openFixes } from '../recovery.ts';
import { demotion } from '../stall/demotion.ts';
import { splitBudget } from '../stall/split-budget.ts';
import type { Facts, Task } from '../state.ts';
import { childrenMade } from '../tree.ts';
import { failureSignal } from './failure-signal.ts';

export interface Split {
  readonly request: number | null;
  readonly slices: readonly Slice[];
  readonly kind: 'split' | 'container';
  readonly auto: boolean;
}

type Refusal = Pick<EventNamed<'split_refused'>['data'], 'reason' | 'detail'>;

/** An event holds 64 KiB. */
const EPIC_BYTES = 60 * 1024;

/** Why this split is not made; null when all its children are. */
export const refusalOf = (turn: Turn, unitTask: Task, split: Split): Refusal | null => {
  const bounds = boundsOf(turn, unitTask);
  if (unitTask.kind === 'fix') return { reason: 'fix', detail: 'a fix is never split' };
  if (unitTask.epic !== null) return { reason: 'already_split', detail: 'a unit is split once' };
  if (split.slices.length === 0) return { reason: 'unusable', detail: 'there is no child in it' };
  const depth = splitDepthBound(unitTask.splitDepth, bounds);
  if (!depth.allowed) return { reason: 'depth', detail: `depth ${depth.asked} is asked for, ${depth.limit} allowed` };
  const children = childrenBound(turn.state.childrenUsed, split.slices.length, bounds);
  if (!children.allowed) {
    const { asked, limit } = children;
    return { reason: 'children', detail: `${asked} children would be made in all, ${limit} are allowed` };
  }
  const bytes = jsonBytes(epicOpened(turn, unitTask, split));
  return bytes <= EPIC_BYTES ? null : { reason: 'too_large', detail: `the children take ${bytes} bytes together` };
};

/** All children at once, and each with its first run; the unit's rank falls in the same append. */
const openEpic = (turn: Turn, unitTask: Task, split: Split): Facts => {
  const opened = epicOpened(turn, unitTask, split);
  const facts: Facts = [opened, demotion(turn, unitTask), ...withdrawal(turn, unitTask, 'epic_opened')];
  const ids = opened.data.children.map(({ task }) => task);
  return followedBy(turn, facts, (later) => enterAll(later, ids));
};

const enterAll = (turn: Turn, [id, ...rest]: readonly string[]): Facts =>
  id === undefined
    ? []
    : followedBy(turn, enterNode(turn, taskOf(turn.state, id), 0), (later) => enterAll(later, rest));

type EpicOpened = Extract<LineageEvent, { type: 'epic_opened' }>;

const epicOpened = (turn: Turn, unitTask: Task, { request, slices, kind, auto }: Split): EpicOpened => ({
  type: 'epic_opened',
  data: {
    ...refOf(turn.state, unitTask),
    ...{ epic: `${unitTask.id}.e1`, request, kind, scope: turn.state.scope },
    closes_by: kind === 'container' ? 'rollup' : 'recompose',
    base_ref: startOf({ ...unitTask, candidate: null }),
    children: childrenOf(turn, unitTask, slices),
    split_depth: unitTask.splitDepth + 1,
    lineage_children: turn.state.childrenUsed + slices.length,
    ended_tasks: openFixes(turn, unitTask.id),
    revoked_runs: unitTask.current === null ? [] : [unitTask.current.run],
    auto_decomposed: auto,
  },
});

const childrenOf = (turn: Turn, unitTask: Task, slices: readonly Slice[]): ChildSpec[] => {
  const made = childrenMade(turn.state, unitTask.id);
  const children = slices.map(({ name, goal, nodes, inputs, salvage, parts }, index) => {
    const address = childAddress(unitTask.address, made + index + 1);
    return {
      ...{ task: taskIdAt(turn.state.root, address), address, name, goal, inputs: { ...inputs }, nodes: [...nodes] },
      ...{ spec_hash: contentHash({ goal, inputs, nodes }), salvage, parts },
      ...limitOf(unitTask, name),
    };
  });
  const signal = failureSignal(turn, unitTask, children);
  return children.map((child) => ({ ...child, failure_signal: signal }));
};

/** What a part declares is a limit; what a council says of a child that nobody declared is a guess. */
const limitOf = ({ parts }: Task, name: string): Pick<ChildSpec, 'paths'> => {
  const paths = parts.find((part) => part.name === name)?.paths ?? [];
  return paths.length === 0 ? {} : { paths: [...paths] };
};

/** What becomes of a unit that is not split after all. */
type Floor = (later: Turn, why: Refusal) => Facts;

/** The epic, or why there is none; the council is asked once more where another proposal could fit. */
export const splitUnit = (turn: Turn, unitTask: Task, { floor, ...split }: Split & { floor: Floor }): Facts => {
  const refusal = refusalOf(turn, unitTask, split);
  if (refusal === null) return openEpic(turn, unitTask, split);
  const refused = splitRefused(turn, unitTask, { ...split, refusal });
  return followedBy(turn, [refused], (later) =>
    refused.data.asked_again ? [councilRequest(later, taskOf(later.state, unitTask.id))] : floor(later, refusal),
  );
};

type SplitRefused = Extract<LineageEvent, { type: 'split_refused' }>;
type Refused = Split & { readonly refusal: Refusal };

const splitRefused = (turn: Turn, unitTask: Task, { request, slices, refusal }: Refused): SplitRefused => {
  const { state } = turn;
  const budget = splitBudget(turn, unitTask);
  const isFirst = unitOf(state, unitTask).request.refused === 0;
  return {
    type: 'split_refused',
    data: {
      ...{ ...refOf(state, unitTask), request: request ?? 1, ...refusal, asked: slices.length, budget },
      // With room for two, a smaller proposal could be made; a second refusal is the last.
      asked_again: isFirst && SMALLER_HELPS.has(refusal.reason) && budget.children_left >= 2,
    },
  };
};

const SMALLER_HELPS: ReadonlySet<Refusal['reason']> = new Set(['children', 'too_large']);

import type { WorkspaceRef } from '@fixpoint/contracts/workspace';
import type { Workspaces } from '@fixpoint/execution/workspaces';
import { protectedPaths } from '@fixpoint/validation/firewall';
import { boundedText } from '../ladder/bounded-text.ts';
import type { NodeReady, NodeVerifiedAction } from './assignment.ts';

interface Ran {
  readonly start: WorkspaceRef;
  readonly report: NodeVerifiedAction;
}

/** Names of files that one report holds. */
const MOST_NAMED = 20;
const DETAIL_BYTES = 8_192;

/**
 * What a run of a declared part changed outside of its paths is not its work, however good: siblings do that. Only what this
 * run itself changed counts, so what a merge brought before it is nobody's fault here.
 * @returns the report, or one that is unmet and names the files. What was done stays to be looked at.
 */
export const withinPaths = async (
  workspaces: Pick<Workspaces, 'diff'>,
  { paths, keep }: Pick<NodeReady, 'paths' | 'keep'>,
  { start, report }: Ran,
): Promise<NodeVerifiedAction> => {
  const { outcome, workspace_ref: end } = report;
  if (paths === undefined || end === null || end.tree === start.tree) return report;
  if (outcome !== 'satisfied' && outcome !== 'degraded') return report;
  const { files } = await workspaces.diff(start, end);
  const outside = outsideOf(
    { paths, keep },
    files.map(({ path }) => path),
  );
  return outside.length === 0 ? report : { ...report, outcome: 'unmet', detail: told(outside, paths) };
};

interface Limits {
  readonly paths: readonly (readonly string[])[];
  /** What git ignores and is kept between runs is no result. */
  readonly keep: readonly string[];
}

/** Those that some list does not cover, in order. */
export const outsideOf = ({ paths, keep }: Limits, changed: readonly string[]): string[] => {
  const covered = paths.map(protectedPaths);
  const isKept = protectedPaths(keep);
  return changed.filter((path) => !isKept(path) && !covered.every((covers) => covers(path)));
};

const told = (outside: readonly string[], paths: Limits['paths']): string => {
  const named = outside.slice(0, MOST_NAMED).join(', ');
  const more = outside.length > MOST_NAMED ? ` and ${outside.length - MOST_NAMED} more` : '';
  const limits = paths.map((globs) => globs.join(' or ')).join(', and of that only ');
  return boundedText(
    `changed outside of its paths: ${named}${more}; this part may change only ${limits}`,
    DETAIL_BYTES,
  );
};

import type { GitSource } from '@fixpoint/contracts/workspace';

/** What a run rests on besides the history: decisions of humans, verdicts that are decided anew, a source of its own. */
export interface Basis {
  readonly verdictsOf: number | null;
  readonly decisions: readonly string[];
  readonly source: GitSource | null;
}

export const NO_BASIS: Basis = { verdictsOf: null, decisions: [], source: null };

import type { ModeSpec } from '@fixpoint/contracts/documents/protocol';
import type { LineageEvent } from '@fixpoint/contracts/events/catalogue';
import type { Admitted } from '@fixpoint/orchestrator/domain/lineage/state';

/** One event of a lineage, with what held before and after it. */
export interface Step {
  readonly before: Admitted;
  readonly event: LineageEvent;
  readonly after: Admitted;
}

/** What was decided at once: rules about states hold between decisions, not in the middle of one. */
export interface Commit {
  readonly before: Admitted;
  readonly events: readonly LineageEvent[];
  readonly after: Admitted;
  readonly mode: ModeSpec;
}

/** A rule of every lineage at all times: a sentence, and what breaks it, a line for each. */
export interface Rule {
  readonly name: string;
  readonly ofEvent?: (step: Step) => readonly string[];
  readonly ofCommit?: (commit: Commit) => readonly string[];
}

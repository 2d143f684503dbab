/** Which machinery failed, told by the step that failed and by the state of the disk, never by what git printed. */
export type WorkspaceFaultClass =
  /** A step that reaches another host: try again later. */
  | 'network'
  /** Less than 16 MiB are left where workspaces live. */
  | 'disk'
  /** Certain, whenever it is asked: no ref of this name in the source, or an address that is none. */
  | 'source'
  /** Everything else: a source that is not there, a lost artifact, a folder in a bad state. */
  | 'workspace';

interface Reason {
  readonly detail: string;
  readonly cause?: unknown;
  readonly provider?: string | null;
}

/** A workspace could not be made, kept or compared. No evidence about the work in it. */
export class WorkspaceFault extends Error {
  override readonly name = 'WorkspaceFault';
  readonly faultClass: WorkspaceFaultClass;
  /** Stable, for people: `source_unreachable`, `ref_unknown`, `artifact_missing`, … */
  readonly code: string;

  /** The host that was asked, as `git.HOST`; null where it was this one, or none. */
  readonly provider: string | null;

  constructor(faultClass: WorkspaceFaultClass, code: string, reason: Reason) {
    super(`${code}: ${reason.detail}`, { cause: reason.cause });
    this.provider = reason.provider ?? null;
    this.faultClass = faultClass;
    this.code = code;
  }
}

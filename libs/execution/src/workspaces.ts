import type { GitSource, WorkspaceRef } from '@fixpoint/contracts/workspace';
import type { ArtifactRef } from '@fixpoint/event-store/artifacts';

/** How one file differs between two workspaces. */
export interface ChangedFile {
  /** Relative to the workspace, `/` between parts; bytes that are no UTF-8 as U+FFFD. */
  readonly path: string;
  /** `typed`: file, link or executable bit became another. A rename is one deleted and one added. */
  readonly change: 'added' | 'deleted' | 'modified' | 'typed';
}

export interface WorkspaceDiff {
  /** Artifact of a patch that `git apply` takes, binary files included; null when nothing differs. */
  readonly patch: ArtifactRef | null;
  /** By path. */
  readonly files: readonly ChangedFile[];
  /**
   * Artifact of one patch with what each commit on the way changed, nothing counted as binary; absent where the end alone
   * shows all of it. For readers, not for `git apply`.
   */
  readonly history?: ArtifactRef;
}

/** How two workspaces differ, for people and models: what is binary is only named. */
export interface DiffText {
  readonly files: readonly ChangedFile[];
  readonly text: string;
  /** There is more of it than was asked for. */
  readonly isCut: boolean;
}

export interface Capture {
  /** Paths (no patterns) kept although git ignores them; those that do not exist are skipped. */
  readonly keep: readonly string[];
  /** `refs/fixpoint/<root>/<task>/<run>`, ids of letters, digits, `_` and `-` (git has no `~` in a name): the name in the bundle. */
  readonly refName: string;
}

/** Two workspaces that are to become one. */
export interface MergeRequest {
  /** The side that wins where both clash. */
  readonly ours: WorkspaceRef;
  readonly theirs: WorkspaceRef;
  /** What both grew out of; null: their histories are asked. */
  readonly base: WorkspaceRef | null;
  /** As in {@link Capture}. What git ignores and both sides keep clashes without being a conflict. */
  readonly keep: readonly string[];
  /** As in {@link Capture}. */
  readonly refName: string;
  /** Of the commit that joins the two histories, where there has to be one. */
  readonly message: string;
  readonly signal?: AbortSignal;
}

export interface Merged {
  /** Commits of both sides are commits of it; the same request gives the same commits. */
  readonly ref: WorkspaceRef;
  /** Paths where both sides clashed, sorted: there, and only there, `ref` is as our side has it. */
  readonly conflicts: readonly string[];
}

export interface Delivery {
  readonly url: string;
  /** Short name. */
  readonly branch: string;
  /** As in {@link Capture}: what git ignores stays behind. */
  readonly keep: readonly string[];
  /** Of the commit with what nobody has committed, where there is such. */
  readonly message: string;
  readonly signal?: AbortSignal;
}

/** `moved_on`: the branch has commits that the result does not hold; `checked_out`: somebody works on it; `declined`: a rule of the repository. */
export type Delivered =
  | { readonly outcome: 'delivered'; readonly commit: string; readonly already: boolean }
  | {
      readonly outcome: 'refused';
      readonly commit: string;
      readonly reason: 'moved_on' | 'checked_out' | 'declined';
      readonly detail: string;
    };

/**
 * Workspaces as git commits. Not part of one: modes other than the executable bit, empty folders, tags and branches
 * beside HEAD, a merge in progress, submodules (never fetched), the history of repositories inside it (their files are).
 * @throws {WorkspaceFault} from every method when the machinery fails.
 */
export interface Workspaces {
  /** Asks the source what its ref names now; null is an empty workspace. */
  resolve(source: GitSource | null): Promise<WorkspaceRef>;
  /**
   * Makes a private checkout in a folder that is empty or does not exist.
   * `read_only` takes every right to write away (which does not bind a root user); nobody captures such a folder.
   */
  materialise(ref: WorkspaceRef, folder: string, access?: 'writable' | 'read_only'): Promise<void>;
  /**
   * Folders outside of a workspace that its git has to read. To be asked before any command has run in it: afterwards the
   * answer is what a command made of it.
   */
  borrowed(folder: string): Promise<readonly string[]>;
  /** The folder as it is now, on the history of `ref` that it was made from. The folder is left as it was. */
  capture(folder: string, ref: WorkspaceRef, capture: Capture): Promise<WorkspaceRef>;
  /** What changed from one workspace to another. */
  diff(from: WorkspaceRef, to: WorkspaceRef): Promise<WorkspaceDiff>;
  /** The same as text of at most so many bytes (UTF-8), whole lines. */
  diffText(from: WorkspaceRef, to: WorkspaceRef, mostBytes: number): Promise<DiffText>;
  /** Three-way; a side that has nothing new is no merge. */
  merge(request: MergeRequest): Promise<Merged>;
  /**
   * Pushes to a branch, never by force, and asks the repository whether it is there. Nothing is pushed when it is already.
   * A repository that can not be reached or written to is a fault; one that says no is an answer.
   */
  deliver(ref: WorkspaceRef, delivery: Delivery): Promise<Delivered>;
  /**
   * All files as one tar archive, for who works elsewhere; null when there are none. The executable bit and links are kept.
   * More than an artifact takes is a fault.
   */
  archive(ref: WorkspaceRef): Promise<ArtifactRef | null>;
  /** A complete repository for people, in a folder that is empty or does not exist; borrows nothing from the cache. */
  export(ref: WorkspaceRef, folder: string): Promise<void>;
  /** Removes a folder, also a read-only one. Nothing there is no error. */
  remove(folder: string): Promise<void>;
}

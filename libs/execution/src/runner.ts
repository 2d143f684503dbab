import type { Confinement } from './sandbox/limits.ts';

/** What is to be run. Text is passed as it is: nothing is ever spliced into it. */
export type Program =
  | { readonly kind: 'argv'; readonly argv: readonly [string, ...string[]] }
  /** Run by `/bin/sh`. */
  | { readonly kind: 'shell'; readonly text: string }
  | { readonly kind: 'script'; readonly language: ScriptLanguage; readonly text: string };

export const scriptLanguages = ['sh', 'bash', 'node', 'python3'] as const;
export type ScriptLanguage = (typeof scriptLanguages)[number];

export interface Command {
  readonly program: Program;
  /** Absolute; must exist. */
  readonly cwd: string;
  /** Added to the few variables that every command gets; nothing else of this process is visible to it. */
  readonly env?: Readonly<Record<string, string>>;
  /** A text that no output may show, such as a credential among the variables; empty or left out: there is none. */
  readonly masked?: string;
  /** HOME of the command. Default: an empty folder that is removed afterwards. */
  readonly home?: string;
  /** Left out: in the runner's sandbox, without a network, with the limits that nobody changed. */
  readonly confinement?: Confinement;
  /** Empty when absent: a command that reads gets an end of file, never a terminal. */
  readonly stdin?: string | Uint8Array;
  /** Wall time from the start in ms; afterwards the whole tree is killed. */
  readonly timeoutMs: number;
  /** Aborting kills the whole tree. */
  readonly signal?: AbortSignal;
}

/** One output stream. The bytes survive in the artifact; the ends are text with U+FFFD for what is not UTF-8. */
export interface Output {
  /** The artifact with the bytes, at most the first 256 MiB of them; null when nothing was printed. */
  readonly hash: string | null;
  /** sha256 (hex) of everything printed; differs from `hash` only when the artifact is cut. */
  readonly sha256: string;
  /** Everything printed, also what was not kept. */
  readonly bytes: number;
  /** First 4 KiB, cut before a character that would be split. */
  readonly head: string;
  /** Last 4 KiB of what `head` does not show; `head + tail` is the whole when not truncated. */
  readonly tail: string;
  /** Something lies between `head` and `tail`. */
  readonly truncated: boolean;
}

export type StartProblem =
  | 'not_text'
  | 'cwd_missing'
  | 'not_found'
  | 'not_executable'
  | 'too_long'
  | 'spawn_failed'
  | 'sandbox_failed';

/** It ran, until it was over a limit of all its processes together. */
export type RunProblem = 'over_limit';

export interface CommandResult {
  /**
   * `exited`: by itself, with `exitCode`. `signaled`: somebody else's signal, or a limit (`error` says which). `timed_out` and `cancelled`: killed here.
   * `not_started`: nothing ran, `error` says why.
   */
  readonly status: 'exited' | 'signaled' | 'timed_out' | 'cancelled' | 'not_started';
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly durationMs: number;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Processes of the tree that outlived the main one and were killed. */
  readonly leftovers: number;
  /** Process ids that could not be killed within 5 s (uninterruptible I/O). Empty means: proven dead. */
  readonly survivors: readonly number[];
  readonly error: { readonly code: StartProblem | RunProblem; readonly detail: string } | null;
}

/** Runs commands of recipes and checks. */
export interface Runner {
  /**
   * Resolves when the command and everything it started is dead and its output is stored.
   * Whatever the command does is a result; only a fault of the artifact store or of the own folder throws,
   * after the tree has been killed.
   */
  run(command: Command): Promise<CommandResult>;
}

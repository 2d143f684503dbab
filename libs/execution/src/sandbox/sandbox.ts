import type { Invocation } from '../invocation.ts';
import type { StartProblem } from '../runner.ts';
import type { Confinement } from './limits.ts';

/** Surroundings of one command. */
export interface Place {
  /** The only folder of the host that it may write to, beside its own `folder`. */
  readonly cwd: string;
  /** All variables of the command. */
  readonly env: Readonly<Record<string, string>>;
  /** Private to this command: its home, its temporary files, its script. */
  readonly folder: string;
  /** A home that was made for it elsewhere; it may write there, too. Never what its own variables call so. */
  readonly home?: string;
  /** The variables by which its processes are found again. */
  readonly marks: Readonly<Record<string, string>>;
  readonly confinement: Confinement;
}

export interface ProcessExit {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

export interface NotStarted {
  readonly problem: { readonly code: StartProblem; readonly detail: string };
}

/** What is handed to the operating system in place of the command. */
export interface Launch {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Further arguments, on descriptor 4 and so in no list of processes; null: there are none, and nothing is reported. */
  readonly hiddenArgs: readonly string[] | null;
  /** What became of the command itself. @param report what was written to descriptor 3. */
  readonly endOf: (exit: ProcessExit, report: string) => ProcessExit | NotStarted;
}

/** Turns a command line and what it may have into what is started. The only place where that is decided. */
export interface Sandbox {
  readonly name: 'bubblewrap' | 'none';
  launch(invocation: Invocation, place: Place): Launch | NotStarted;
}

import type { Terminal } from './output/terminal.ts';

/** What a command gets from the process it runs in. */
export interface Context {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute. */
  readonly cwd: string;
  readonly terminal: Terminal;
  readonly stdin: AsyncIterable<Uint8Array>;
  /** Set by the command that ran. */
  exitCode: number;
}

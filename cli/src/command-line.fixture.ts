import type { Context } from './context.ts';
import { EXIT } from './exit-codes.ts';
import { jsonLine, printable } from './output/printable.ts';
import { runProgram } from './program.ts';

/** What one command line came to. */
export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Surroundings {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly stdin?: string;
}

/** Runs a command line in this process. */
export const commandLine = async (args: readonly string[], surroundings: Surroundings = {}): Promise<Ran> => {
  let stdout = '';
  let stderr = '';
  const context: Context = {
    env: surroundings.env ?? {},
    cwd: surroundings.cwd ?? '/',
    stdin: piped(surroundings.stdin ?? ''),
    exitCode: EXIT.ok,
    terminal: {
      isInteractive: false,
      gone: new AbortController().signal,
      print: (text) => {
        stdout += `${printable(text)}\n`;
      },
      printPiece: (text) => {
        stdout += printable(text);
      },
      json: (value) => {
        stdout += `${jsonLine(value)}\n`;
      },
      note: (text) => {
        stderr += `${printable(text)}\n`;
      },
    },
  };
  const code = await runProgram(args, context);
  return { code, stdout, stderr };
};

async function* piped(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text, 'utf8');
}

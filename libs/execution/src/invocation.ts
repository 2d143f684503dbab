import { statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command, Program, ScriptLanguage, StartProblem } from './runner.ts';
import type { SystemError } from './system-error.ts';

/** Which interpreter a script of a language is given to: a path, or a name looked up in PATH. */
export type Interpreters = Readonly<Record<ScriptLanguage, string>>;

/** What is handed to the operating system. */
export interface Invocation {
  readonly file: string;
  readonly args: readonly string[];
  readonly stdin: string | Uint8Array;
}

// Linux refuses one argument of 128 KiB or more (MAX_ARG_STRLEN).
const argumentBytes = 128 * 1024;

const shell = (text: string): Program => ({ kind: 'argv', argv: ['/bin/sh', '-c', text] });

/**
 * The command line of a program. Text too long for an argument goes through a file, a script through a file or stdin.
 * `node` and `python3` read a script from stdin where possible: imports then resolve from the working folder.
 * A shell never does: what the script runs would read the rest of it.
 */
export const invocationOf = async (
  { program, stdin = '' }: Pick<Command, 'program' | 'stdin'>,
  interpreters: Interpreters,
  folder: string,
): Promise<Invocation> => {
  if (program.kind === 'argv') {
    const [file, ...args] = program.argv;
    return { file, args, stdin };
  }
  if (program.kind === 'shell' && Buffer.byteLength(program.text) < argumentBytes) {
    return invocationOf({ program: shell(program.text), stdin }, interpreters, folder);
  }
  const language = program.kind === 'shell' ? 'sh' : program.language;
  const interpreter = program.kind === 'shell' ? '/bin/sh' : interpreters[language];
  const isFilter = language === 'sh' || language === 'bash' || stdin.length > 0;
  if (!isFilter) return { file: interpreter, args: ['-'], stdin: program.text };
  const path = join(folder, language === 'node' ? 'script.js' : 'script');
  await writeFile(path, program.text, { mode: 0o600 });
  return { file: interpreter, args: [path], stdin };
};

const textsOf = ({ program, env = {}, cwd }: Command): string[] => [
  ...(program.kind === 'argv' ? program.argv : [program.text]),
  ...Object.keys(env),
  ...Object.values(env),
  cwd,
];

/** Why a command cannot be started, as far as it can be told beforehand; null when it can. */
export const startProblemOf = (command: Command): { code: StartProblem; detail: string } | null => {
  const texts = textsOf(command);
  if (texts.some((text) => text.includes('\0'))) {
    return { code: 'not_text', detail: 'a command, its folder and its variables cannot hold U+0000' };
  }
  if (!texts.every((text) => text.isWellFormed())) {
    return { code: 'not_text', detail: 'a command, its folder and its variables cannot hold a lone surrogate' };
  }
  if (!(statSync(command.cwd, { throwIfNoEntry: false })?.isDirectory() ?? false)) {
    return { code: 'cwd_missing', detail: `${command.cwd} is no folder` };
  }
  return null;
};

const problemCodes: Readonly<Record<string, StartProblem>> = {
  ENOENT: 'not_found',
  EACCES: 'not_executable',
  ENOEXEC: 'not_executable',
  E2BIG: 'too_long',
};

/** What the operating system's refusal to start a command means. */
export const spawnProblemOf = (error: SystemError): { code: StartProblem; detail: string } => ({
  code: problemCodes[error.code] ?? 'spawn_failed',
  detail: error.message,
});

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Who commits in a workspace when nobody else is configured. */
export const committer = { name: 'Fixpoint', email: 'fixpoint@localhost' };

/** One call of git: no shell, no configuration of the host, no prompt. */
export interface GitCall {
  readonly args: readonly string[];
  /** Working folder; default: the folder of this git. */
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string | Uint8Array;
  /** Exit codes that are answers and not failures; default only 0. */
  readonly answers?: readonly number[];
  readonly signal?: AbortSignal;
}

export interface GitAnswer {
  readonly exitCode: number;
  readonly stdout: Buffer;
}

/** Git said no. `stderr` is for people only, without credentials of URLs; nothing may be decided on it. */
export class GitFailure extends Error {
  override readonly name = 'GitFailure';
  readonly exitCode: number | null;

  constructor(args: readonly string[], exitCode: number | null, stderr: string) {
    super(
      withoutCredentials(`git ${args.slice(0, 3).join(' ')} ended with ${exitCode}: ${stderr.trim().slice(-2000)}`),
    );
    this.exitCode = exitCode;
  }
}

export interface Git {
  /** Private folder: its configuration, and room for what a call needs beside a repository. */
  readonly folder: string;
  /** @throws {GitFailure} on any other exit code than an answer. Output is held in memory: for short ones. */
  run(call: GitCall): Promise<GitAnswer>;
  /** First line of the output. */
  line(call: GitCall): Promise<string>;
  /** The output as it comes, for bundles and diffs. Throws {@link GitFailure} at the end. */
  stream(call: GitCall): AsyncIterable<Buffer>;
}

/** `https://user:secret@host` → `https://host`. */
export const withoutCredentials = (text: string): string => text.replace(/(\w:\/\/)[^\s/@]*@/g, '$1');

// A file of our own and not /dev/null: git drops `-c` options before it starts the other side of a local fetch,
// and that side too must trust a source that belongs to somebody else.
const configuration = `[safe]
\tdirectory = *
[core]
\thooksPath = /dev/null
\tfsmonitor = false
[gc]
\tauto = 0
[maintenance]
\tauto = false
[init]
\tdefaultBranch = main
[pack]
\tthreads = 1
[advice]
\taddEmbeddedRepo = false
`;

// Said by the environment as well, which comes before what a recipe writes into the configuration of its own repository:
// there, both name programs that git starts. And into repositories inside it git looks with their own configuration.
const settings = { 'core.hooksPath': '/dev/null', 'core.fsmonitor': 'false', 'diff.ignoreSubmodules': 'dirty' };

const settingsEnv: Readonly<Record<string, string>> = {
  GIT_CONFIG_COUNT: String(Object.keys(settings).length),
  ...Object.fromEntries(
    Object.entries(settings).flatMap(([key, value], at) => [
      [`GIT_CONFIG_KEY_${at}`, key],
      [`GIT_CONFIG_VALUE_${at}`, value],
    ]),
  ),
};

/**
 * For calls that talk to a source. All others may talk to nobody: a repository may be configured so that git fetches what
 * it misses, by a program that is named there.
 */
export const sourceProtocols = { GIT_ALLOW_PROTOCOL: 'file:git:http:https:ssh' };

// Ten minutes for one call, whatever it does; a stalled transfer ends after a minute below 1 KB/s.
const callTimeoutMs = 600_000;

/**
 * @param folder private; holds the configuration and is the default working folder.
 * @param path where git and ssh are found.
 */
export const hostGit = ({ folder, path }: { folder: string; path: string }): Git => {
  mkdirSync(folder, { recursive: true });
  const configPath = join(folder, 'gitconfig');
  writeFileSync(configPath, configuration);
  const env = {
    PATH: path,
    HOME: folder,
    LANG: 'C.UTF-8',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: configPath,
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    ...settingsEnv,
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_SSH_COMMAND: 'ssh -o BatchMode=yes -o ConnectTimeout=20',
    GIT_HTTP_LOW_SPEED_LIMIT: '1000',
    GIT_HTTP_LOW_SPEED_TIME: '60',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_AUTHOR_NAME: committer.name,
    GIT_AUTHOR_EMAIL: committer.email,
    GIT_COMMITTER_NAME: committer.name,
    GIT_COMMITTER_EMAIL: committer.email,
  };
  const start = (call: GitCall) => startGit(call, { program: found('git', path), cwd: folder, env });
  return {
    folder,
    run: (call) => run(call, start(call)),
    line: async (call) => (await run(call, start(call))).stdout.toString('utf8').split('\n', 1)[0] ?? '',
    stream: (call) => stream(call, start(call)),
  };
};

/** The same git, each call of which ends with the signal. */
export const stoppable = (git: Git, signal: AbortSignal | undefined): Git =>
  signal === undefined
    ? git
    : {
        folder: git.folder,
        run: (call) => git.run({ signal, ...call }),
        line: (call) => git.line({ signal, ...call }),
        stream: (call) => git.stream({ signal, ...call }),
      };

/** Once per call: a search by the new process itself would hold this one up until it has tried every folder. */
const found = (program: string, path: string): string =>
  path
    .split(delimiter)
    .map((folder) => join(folder, program))
    .find((file) => existsSync(file) && statSync(file).isFile()) ?? program;

interface Defaults {
  readonly program: string;
  readonly cwd: string;
  readonly env: Record<string, string>;
}

const startGit = (call: GitCall, defaults: Defaults): ChildProcess => {
  const child = spawn(defaults.program, call.args, {
    cwd: call.cwd ?? defaults.cwd,
    env: { ...defaults.env, ...call.env },
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: callTimeoutMs,
    killSignal: 'SIGKILL',
    ...(call.signal === undefined ? {} : { signal: call.signal }),
  });
  // A git that ends without reading its input is judged by its exit code alone.
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(call.stdin ?? '');
  return child;
};

const ended = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (exitCode) => resolve(exitCode));
  });

const stderrOf = (child: ChildProcess): { text: string } => {
  const last = { text: '' };
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    last.text = (last.text + chunk).slice(-4000);
  });
  return last;
};

const judge = ({ args, answers = [0] }: GitCall, exitCode: number | null, stderr: string): number => {
  if (exitCode === null || !answers.includes(exitCode)) throw new GitFailure(args, exitCode, stderr);
  return exitCode;
};

const run = async (call: GitCall, child: ChildProcess): Promise<GitAnswer> => {
  const end = ended(child);
  const stderr = stderrOf(child);
  const chunks: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
  return { exitCode: judge(call, await end, stderr.text), stdout: Buffer.concat(chunks) };
};

async function* stream(call: GitCall, child: ChildProcess): AsyncGenerator<Buffer> {
  const end = ended(child);
  // Kept from being unhandled while the output is read; thrown below.
  end.catch(() => undefined);
  const stderr = stderrOf(child);
  try {
    for await (const chunk of child.stdout ?? []) yield chunk;
  } finally {
    // A reader that leaves early wants no more of it.
    if (child.exitCode === null && child.stdout?.readableEnded !== true) child.kill('SIGKILL');
  }
  judge(call, await end, stderr.text);
}

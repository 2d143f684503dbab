import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Artifacts } from '@fixpoint/event-store/artifacts';
import { type Interpreters, invocationOf, startProblemOf } from './invocation.ts';
import { noOutput } from './output-capture.ts';
import { markName, startChild, superviseChild } from './process.ts';
import { abandonedBy, type Killed, killAll } from './process-tree.ts';
import type { Command, CommandResult, Runner } from './runner.ts';
import type { Confinement } from './sandbox/limits.ts';
import { DEFAULT_LIMITS } from './sandbox/limits.ts';
import { noSandbox } from './sandbox/no-sandbox.ts';
import type { Sandbox } from './sandbox/sandbox.ts';

export interface HostRunnerOptions {
  readonly artifacts: Artifacts;
  /** Private folder for pipes, scripts and home folders; made when missing, empty again when nothing runs. */
  readonly folder: string;
  /** PATH of every command. */
  readonly path: string;
  /** Around every command whose confinement does not say otherwise. */
  readonly sandbox: Sandbox;
  /** Overrides; by default `node` is the one that runs this process, the others come from the host. */
  readonly interpreters?: Partial<Interpreters>;
}

const hostInterpreters: Interpreters = { sh: '/bin/sh', bash: 'bash', node: process.execPath, python3: 'python3' };

const STRICT: Confinement = { sandboxed: true, network: false, readable: [], limits: DEFAULT_LIMITS };

const notStarted = (status: 'not_started' | 'cancelled', error: CommandResult['error']): CommandResult => ({
  status,
  exitCode: null,
  signal: null,
  durationMs: 0,
  stdout: noOutput,
  stderr: noOutput,
  leftovers: 0,
  survivors: [],
  error,
});

/** Variable that tells whose command a process belongs to: the runner's folder and process id. */
const ownerName = 'FIXPOINT_COMMAND_OWNER';

/**
 * Kills what runners with this folder left alive because their own process was killed. For the start of a process:
 * trees of runners that live are not touched.
 */
export const killAbandoned = (folder: string): Promise<Killed> => killAll(() => abandonedBy(`${ownerName}=${folder}#`));

/** Runs commands as processes of this host, each in a session of its own. Only Linux finds a tree that left its session. */
export const hostRunner = (options: HostRunnerOptions): Runner => ({
  run: async (command) => {
    const problem = startProblemOf(command);
    if (problem !== null) return notStarted('not_started', problem);
    if (command.signal?.aborted === true) return notStarted('cancelled', null);

    await mkdir(options.folder, { recursive: true });
    const folder = await mkdtemp(join(options.folder, 'command-'));
    try {
      return await runIn(folder, command, options);
    } finally {
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    }
  },
});

const runIn = async (folder: string, command: Command, options: HostRunnerOptions): Promise<CommandResult> => {
  const interpreters = { ...hostInterpreters, ...options.interpreters };
  const invocation = await invocationOf(command, interpreters, folder);
  const id = randomUUID();
  const env = await environmentOf(command, folder, options.path);
  const marks = { [markName]: id, [ownerName]: `${options.folder}#${process.pid}` };
  const { confinement = STRICT, cwd, home } = command;
  const place = { cwd, env, marks, folder, confinement, ...(home === undefined ? {} : { home }) };
  // Whoever says nothing is in the sandbox.
  const sandbox = confinement.sandboxed ? options.sandbox : noSandbox(options.path);
  const launch = sandbox.launch(invocation, place);
  if ('problem' in launch) return notStarted('not_started', launch.problem);
  const started = await startChild(launch, { stdin: invocation.stdin, folder });
  if ('problem' in started) return notStarted('not_started', started.problem);
  return superviseChild(started, { command, id, artifacts: options.artifacts, limits: confinement.limits, folder });
};

const environmentOf = async (command: Command, folder: string, path: string): Promise<Record<string, string>> => {
  const home = command.home ?? join(folder, 'home');
  const temporary = join(folder, 'tmp');
  await Promise.all([mkdir(home, { recursive: true }), mkdir(temporary)]);
  return {
    PATH: path,
    HOME: home,
    TMPDIR: temporary,
    LANG: 'C.UTF-8',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    ...command.env,
  };
};

import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname } from 'node:path';
import { z } from 'zod';
import { programProblem } from './find-program.ts';
import { limitArgs } from './limits.ts';
import type { Launch, NotStarted, Place, ProcessExit, Sandbox } from './sandbox.ts';

export interface BubblewrapOptions {
  /** Absolute paths of the two programs. */
  readonly bwrap: string;
  readonly prlimit: string;
  /** Search path of commands; its folders can be read. */
  readonly path: string;
}

const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];

/** Of `/etc` only what programs need to start and to name things: there may be credentials beside it. */
const ETC = [
  ...['alternatives', 'ca-certificates', 'ca-certificates.conf', 'ssl', 'pki', 'passwd', 'group', 'nsswitch.conf'],
  ...['ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'localtime', 'timezone', 'mime.types', 'protocols', 'services'],
  ...['hosts', 'host.conf', 'bash.bashrc', 'profile', 'python3', 'perl', 'fonts', 'magic', 'locale.alias'],
].map((name) => `/etc/${name}`);

const ETC_NETWORK = ['/etc/resolv.conf', '/etc/gai.conf'];

/** In memory: what ignores TMPDIR, and shared memory. */
const MEMORY_DISK_BYTES = 256 * 1024 * 1024;

/**
 * A command in namespaces of its own: mounts, processes, users, IPC, host name, cgroups, network. No capabilities, no new
 * privileges, no further user namespaces, and dead with the service. Source: `bwrap(1)` 0.8.
 */
export const bubblewrap = (options: BubblewrapOptions): Sandbox => ({
  name: 'bubblewrap',
  launch: (invocation, place) => {
    const search = { path: place.env.PATH ?? options.path, cwd: place.cwd };
    const problem = programProblem(invocation.file, search);
    if (problem !== null) return problem;
    return {
      file: options.bwrap,
      args: [
        ...['--json-status-fd', '3', '--args', '4', '--', options.prlimit],
        ...limitArgs(place.confinement.limits, { own: true }),
        ...[invocation.file, ...invocation.args],
      ],
      cwd: place.folder,
      // Variables of a task, such as LD_PRELOAD, are for the command and not for what starts it.
      env: { PATH: options.path, ...place.marks },
      hiddenArgs: [...isolation(place), ...mounts(options, place), ...variables(place)],
      endOf,
    } satisfies Launch;
  },
});

const isolation = ({ confinement }: Place): string[] => [
  ...['--unshare-user', '--unshare-ipc', '--unshare-pid', '--unshare-uts', '--unshare-cgroup-try', '--disable-userns'],
  ...(confinement.network ? [] : ['--unshare-net']),
  ...['--cap-drop', 'ALL', '--die-with-parent', '--new-session', '--hostname', 'sandbox'],
];

const memoryDisk = (at: string): string[] => ['--size', String(MEMORY_DISK_BYTES), '--tmpfs', at];

const readOnly = (path: string): string[] => ['--ro-bind', path, path];

/** Later mounts lie over earlier ones, so the working folder comes last. */
const mounts = ({ path }: BubblewrapOptions, { cwd, folder, home = folder, env, confinement }: Place): string[] => [
  ...SYSTEM.flatMap(systemFolder),
  ...[...ETC, ...(confinement.network ? ETC_NETWORK : [])].filter((each) => existsSync(each)).flatMap(readOnly),
  ...['--proc', '/proc', '--dev', '/dev', ...memoryDisk('/dev/shm'), ...memoryDisk('/tmp'), '--dir', '/var'],
  ...['--symlink', '../tmp', '/var/tmp'],
  ...programFolders(path).flatMap(readOnly),
  ...confinement.readable.filter((each) => existsSync(each)).flatMap(readOnly),
  ...['--bind', folder, folder, '--bind', cwd, cwd, '--bind', home, home],
  ...(env.HOME === undefined || env.HOME.startsWith(`${folder}/`) ? [] : ['--dir', env.HOME]),
  ...['--remount-ro', '/dev', '--remount-ro', '/', '--chdir', cwd],
];

const systemFolder = (path: string): string[] => {
  const about = lstatSync(path, { throwIfNoEntry: false });
  if (about === undefined) return [];
  return about.isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : readOnly(path);
};

/** Programs that are not below the system folders, the interpreter of this process among them. */
const programFolders = (path: string): string[] =>
  [...new Set([dirname(process.execPath), ...path.split(':')])].filter(
    (folder) =>
      folder.startsWith('/') && existsSync(folder) && !SYSTEM.some((top) => `${folder}/`.startsWith(`${top}/`)),
  );

const variables = ({ env, marks }: Place): string[] => [
  '--clearenv',
  ...Object.entries({ ...env, ...marks }).flatMap(([name, value]) => ['--setenv', name, value]),
];

const exitSchema = z.object({ 'exit-code': z.int() });

/** bwrap says the exit code of a command only where it was started. */
const endOf = (exit: ProcessExit, report: string): ProcessExit | NotStarted => {
  const said = exitSchema.safeParse(lastJson(report));
  if (said.success) return exitOf(said.data['exit-code']);
  if (exit.signal !== null) return exit;
  return {
    problem: { code: 'sandbox_failed', detail: 'the sandbox could not be made, or its command not be started' },
  };
};

const lastJson = (report: string): unknown => {
  const line = report.trimEnd().split('\n').at(-1) ?? '';
  try {
    return JSON.parse(line);
  } catch {
    // Cut off: it was killed.
    return null;
  }
};

/** Signals that end a process which did not choose to; a shell's own 128+n for them says the same of its last command. */
const DEADLY = [
  'SIGILL',
  'SIGABRT',
  'SIGBUS',
  'SIGFPE',
  'SIGKILL',
  'SIGSEGV',
  'SIGTERM',
  'SIGXCPU',
  'SIGXFSZ',
  'SIGSYS',
];

/** bwrap tells a signal as 128+n. */
const exitOf = (exitCode: number): ProcessExit => {
  const signal = DEADLY.find((name) => constants.signals[name as NodeJS.Signals] === exitCode - 128);
  return signal === undefined ? { exitCode, signal: null } : { exitCode: null, signal };
};

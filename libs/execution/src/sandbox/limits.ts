/** What one command may use up. Source: docs/tasks.md (Limits). */
export interface Limits {
  /** CPU time of one process, s. */
  readonly cpu_s: number;
  /** Writable private memory of one process, and resident memory of all processes of the command together, bytes. */
  readonly memory_bytes: number;
  /** One file, bytes. */
  readonly file_bytes: number;
  /** Files of the workspace and of the command's own folders together, bytes. */
  readonly disk_bytes: number;
  /** Processes (and, where the kernel counts, threads) at a time. */
  readonly processes: number;
  /** Open files of one process. */
  readonly open_files: number;
}

/** What a command gets beyond its working folder, and what it may use up. */
export interface Confinement {
  /** False: beside the service, as its user. Only said where somebody decided it. */
  readonly sandboxed: boolean;
  /** The network of the host; else not even its loopback. */
  readonly network: boolean;
  /** Absolute paths that it may read beside the programs of the host. */
  readonly readable: readonly string[];
  readonly limits: Limits;
}

const GIB = 1024 ** 3;

/** Of a mode that says nothing else. Source: docs/tasks.md (Limits). */
export const DEFAULT_LIMITS: Limits = {
  cpu_s: 3_600,
  memory_bytes: 4 * GIB,
  file_bytes: 2 * GIB,
  disk_bytes: 8 * GIB,
  processes: 512,
  open_files: 4_096,
};

/**
 * Arguments of `prlimit` (util-linux) before a command line. The kernel counts processes per user: only in a user
 * namespace of its own is that a count of the command's, and never for root.
 */
export const limitArgs = (limits: Limits, { own }: { readonly own: boolean }): string[] => [
  `--cpu=${limits.cpu_s}:${limits.cpu_s + 1}`,
  `--data=${limits.memory_bytes}`,
  `--fsize=${limits.file_bytes}`,
  `--nofile=${limits.open_files}`,
  ...(own ? [`--nproc=${limits.processes}`] : []),
  '--core=0',
  '--',
];

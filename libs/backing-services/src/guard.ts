import { type ChildProcess, spawn } from 'node:child_process';

/**
 * A shell that waits for the end of its standard input, which is the end of this process (also by SIGKILL, when no
 * handler of ours runs), and then stops another one: SIGINT, and SIGKILL after 20 s. Costs one sleeping `sh`. Kill the
 * guard before the process it guards: later the process id may belong to somebody else.
 */
export const startGuard = (pid: number): ChildProcess => {
  const script =
    'read -r _; kill -INT "$1"; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; ' +
    'do sleep 1; kill -0 "$1" || exit; done; kill -KILL "$1"';
  const guard = spawn('sh', ['-c', script, 'fixpoint-guard', String(pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.unref();
  // A child's pipe is a socket at run time; its declared type does not have `unref`.
  if (guard.stdin !== null && 'unref' in guard.stdin && typeof guard.stdin.unref === 'function') guard.stdin.unref();
  return guard;
};

import { findProgram, programProblem } from './find-program.ts';
import { limitArgs } from './limits.ts';
import type { ProcessExit, Sandbox } from './sandbox.ts';

/**
 * Starts a command as it is, with limits where the host has `prlimit`: it can read, and reach, what the user of this
 * process can.
 * @param path where `prlimit` is looked for.
 */
export const noSandbox = (path: string): Sandbox => {
  const prlimit = findProgram('prlimit', path);
  return {
    name: 'none',
    launch: ({ file, args }, { cwd, env, marks, confinement }) => {
      const surroundings = { cwd, env: { ...env, ...marks }, hiddenArgs: null, endOf: (exit: ProcessExit) => exit };
      if (prlimit === null) return { ...surroundings, file, args };
      const limits = limitArgs(confinement.limits, { own: false });
      return (
        programProblem(file, { path: env.PATH ?? path, cwd }) ?? {
          ...surroundings,
          file: prlimit,
          args: [...limits, file, ...args],
        }
      );
    },
  };
};

import { lstat, mkdir, rm } from 'node:fs/promises';
import type { Runner } from '@fixpoint/execution/runner';
import { systemErrorOf } from '@fixpoint/execution/system-error';
import { WorkspaceFault } from '@fixpoint/execution/workspace-fault';

/** A command that removed the folder of its run has left an empty one: the check has the word on that. */
export const keepingFolder = (runner: Runner): Runner => ({
  run: async (command) => {
    const result = await runner.run(command);
    await keep(command.cwd);
    return result;
  },
});

/** @throws {WorkspaceFault} when the folder around it is gone as well: that is no work of a recipe. */
const keep = async (folder: string): Promise<void> => {
  if ((await lstat(folder).catch(() => null))?.isDirectory() === true) return;
  try {
    await rm(folder, { force: true });
    await mkdir(folder);
  } catch (cause) {
    if (systemErrorOf(cause)?.code !== 'ENOENT') throw cause;
    throw new WorkspaceFault('workspace', 'folder_gone', { detail: folder, cause });
  }
};

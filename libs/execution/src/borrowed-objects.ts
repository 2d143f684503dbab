import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemErrorOf } from './system-error.ts';

/**
 * Folders of objects that a workspace just made borrows from; its git needs to read them. To be asked before any command
 * has run in the workspace: afterwards the list is what a command made of it.
 * @param folder as `Workspaces.materialise` has filled it.
 */
export const borrowedObjects = async (folder: string): Promise<string[]> => {
  try {
    const text = await readFile(join(folder, '.git/objects/info/alternates'), 'utf8');
    return text.split('\n').filter((line) => line !== '');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(systemErrorOf(error)?.code ?? '')) return [];
    throw error;
  }
};

import { constants } from 'node:fs';
import { lstat, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileChange } from '@fixpoint/contracts/rest/jobs';
import { replaceFile } from './primitives/atomic-file.ts';
import { linkIn, workspacePath } from './primitives/inside.ts';
import { systemErrorOf } from './system-error.ts';

const EXECUTABLE = 0o755;
const PLAIN = 0o644;

/**
 * Does to the files of a workspace what somebody outside said, in order. Nothing leaves the folder, reaches into `.git` or
 * passes through a link. No process may run in the folder meanwhile.
 * @returns what is wrong with the first change that could not be made, those before it being made; null when all were.
 * @throws when the disk fails.
 */
export const applyFileChanges = async (folder: string, changes: readonly FileChange[]): Promise<string | null> => {
  for (const change of changes) {
    const problem = (await problemOf(folder, change.path)) ?? (await applyOne(folder, change));
    if (problem !== null) return `${change.path}: ${problem}`;
  }
  return null;
};

const problemOf = async (folder: string, path: string): Promise<string | null> => {
  const parsed = workspacePath.safeParse(path);
  if (!parsed.success) return `a path ${parsed.error.issues[0]?.message ?? 'is wrong'}`;
  const link = await linkIn(folder, path);
  return link === null ? null : `${link} is a link; links are not followed`;
};

const applyOne = async (folder: string, change: FileChange): Promise<string | null> => {
  const target = join(folder, change.path);
  if (change.delete) return remove(target);
  const added = change.base64 === undefined ? Buffer.from(change.text ?? '') : Buffer.from(change.base64, 'base64');
  const bytes = change.append ? Buffer.concat([await contentOf(target), added]) : added;
  const mode = change.executable === undefined ? {} : { mode: change.executable ? EXECUTABLE : PLAIN };
  const done = await replaceFile(folder, change.path, { bytes, ...mode });
  return done ? null : 'something is in the way';
};

const remove = async (target: string): Promise<string | null> => {
  const there = await lstat(target).catch(() => null);
  if (there?.isDirectory() === true) return 'is a folder';
  await rm(target, { force: true });
  return null;
};

/** Nothing where there is no file; what else is there is told when the file is to be replaced. */
const contentOf = async (target: string): Promise<Buffer> => {
  const file = await open(target, FLAGS).catch(noFile);
  if (file === null) return Buffer.alloc(0);
  try {
    return (await file.stat()).isFile() ? await file.readFile() : Buffer.alloc(0);
  } finally {
    await file.close();
  }
};

const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

const noFile = (error: unknown): null => {
  if (['ENOENT', 'ENOTDIR', 'EISDIR'].includes(systemErrorOf(error)?.code ?? '')) return null;
  throw error;
};

import { isUtf8 } from 'node:buffer';
import { lstat, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { linkIn } from './inside.ts';

/** Longest file that is read as a text, bytes. */
export const longestText = 16 * 1024 * 1024;

export type WorkspaceText =
  | { readonly found: 'text'; readonly text: string }
  | { readonly found: 'nothing' }
  /** `problem` goes on after the path: `is no file`. */
  | { readonly found: 'unusable'; readonly problem: string };

const unusable = (problem: string): WorkspaceText => ({ found: 'unusable', problem });

/** A file of the workspace as text, through no link. A mark of byte order stays where it is. */
export const readWorkspaceText = async (folder: string, path: string): Promise<WorkspaceText> => {
  const link = await linkIn(folder, path);
  if (link !== null) return unusable(`is reached by the link ${link}; links are not followed`);
  const place = join(folder, path);
  const there = await lstat(place).catch(() => null);
  if (there === null) return { found: 'nothing' };
  if (!there.isFile()) return unusable('is no file');
  if (there.size > longestText) return unusable(`is longer than ${longestText} bytes`);
  const bytes = await readFile(place);
  return isUtf8(bytes) ? { found: 'text', text: bytes.toString('utf8') } : unusable('is not UTF-8 text');
};

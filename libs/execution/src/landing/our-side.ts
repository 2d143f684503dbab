import { randomUUID } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Git } from '../git.ts';
import type { Clash, PathBytes, Version } from './merge-entry.ts';

/** What becomes of a path that clashes; null: it goes. */
export interface Settled {
  readonly path: PathBytes;
  readonly version: Version | null;
  /** Something of theirs is not in it. */
  readonly isLoss: boolean;
}

/** Beyond it, content is taken as one piece. */
const LONGEST_MERGED = 32 * 1024 * 1024;

/**
 * Settles a clash so that our side wins where the sides clash, hunk by hunk where there is text on both, and theirs stays
 * everywhere else.
 * @param whole take the content as one piece.
 */
export const ourSide = async (
  git: Git,
  gitDir: string,
  { clash, whole }: { readonly clash: Clash; readonly whole: boolean },
): Promise<Settled> => {
  const { path, base, ours, theirs } = clash;
  if (ours === null || theirs === null) return { path, version: ours, isLoss: theirs !== null || base !== null };
  if (whole || !isFile(ours) || !isFile(theirs)) return { path, version: ours, isLoss: true };
  const text = base !== null && isFile(base) ? base : null;
  const merged = await mergedBlob(git, gitDir, { base: text, ours, theirs });
  if (merged === null) return { path, version: ours, isLoss: true };
  return { path, version: { mode: modeOf(base, ours, theirs), blob: merged.blob }, isLoss: merged.isLoss };
};

const isFile = ({ mode }: Version): boolean => mode.startsWith('100');

/** The executable bit: who changed it, and ours when both did. */
const modeOf = (base: Version | null, ours: Version, theirs: Version): string =>
  base !== null && base.mode === ours.mode ? theirs.mode : ours.mode;

interface Versions {
  readonly base: Version | null;
  readonly ours: Version;
  readonly theirs: Version;
}

/** Null where the content is no text, or too much of it. */
const mergedBlob = async (
  git: Git,
  gitDir: string,
  { base, ours, theirs }: Versions,
): Promise<{ blob: string; isLoss: boolean } | null> => {
  const versions = [ours, base, theirs];
  for (const version of versions) if (await isTooLong(git, gitDir, version)) return null;
  const folder = join(gitDir, `clash-${randomUUID()}`);
  await mkdir(folder);
  try {
    const files = versions.map((_, place) => join(folder, String(place)));
    for (const [place, file] of files.entries()) {
      await writeFile(file, await contentOf(git, gitDir, versions[place] ?? null));
    }
    const merged = await mergedText(git, files);
    if (merged === null) return null;
    const store = ['--git-dir', gitDir, 'hash-object', '-w', '--stdin', '--no-filters'];
    return { blob: await git.line({ args: store, stdin: merged.text }), isLoss: merged.isLoss };
  } finally {
    await rm(folder, { recursive: true });
  }
};

/** Of `git merge-file`: up to 127 is a number of clashes. */
const NOT_TEXT = 255;
const COUNTS = Array.from({ length: 128 }, (_, count) => count);

const mergedText = async (git: Git, files: readonly string[]): Promise<{ text: Buffer; isLoss: boolean } | null> => {
  const clean = await git.run({ args: ['merge-file', '-p', '--', ...files], answers: [...COUNTS, NOT_TEXT] });
  if (clean.exitCode === NOT_TEXT) return null;
  if (clean.exitCode === 0) return { text: clean.stdout, isLoss: false };
  const { stdout } = await git.run({ args: ['merge-file', '--ours', '-p', '--', ...files] });
  return { text: stdout, isLoss: true };
};

const isTooLong = async (git: Git, gitDir: string, version: Version | null): Promise<boolean> => {
  if (version === null) return false;
  return Number(await git.line({ args: ['--git-dir', gitDir, 'cat-file', '-s', version.blob] })) > LONGEST_MERGED;
};

const contentOf = async (git: Git, gitDir: string, version: Version | null): Promise<Buffer> => {
  if (version === null) return Buffer.alloc(0);
  return (await git.run({ args: ['--git-dir', gitDir, 'cat-file', 'blob', version.blob] })).stdout;
};

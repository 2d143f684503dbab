import { randomUUID } from 'node:crypto';
import { lstat, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '@fixpoint/contracts/clock';
import { type Git, hostGit } from './git.ts';
import { type MirrorUse, noteUse, useFile, usesOf } from './mirror-uses.ts';
import { pinOf } from './mirrors.ts';
import { removeFolder } from './remove-folder.ts';

export interface MirrorBounds {
  /** What nobody wanted for so long goes, ms. */
  readonly idleMs: number;
  /** Bytes that all mirrors together may take; beyond it the least recently used ones go. */
  readonly maxBytes: number;
}

export interface MirrorsToSweep {
  readonly git: Git;
  /** Of the workspaces; its mirrors are shared by no other process. */
  readonly root: string;
  /** Told what one mirror's trouble is; it is looked at again. */
  readonly report: (error: unknown, mirror: string) => void;
}

export interface Swept {
  readonly mirrors: number;
  readonly pins: number;
}

/** A run may borrow the objects of a mirror for as long as it lasts, so what was wanted today stays, whatever its size. */
const IN_USE_MS = 24 * 3_600_000;

/** Objects that a fetch has brought and not pinned yet are younger than this. */
const PRUNE = '--prune=1.hour.ago';

/**
 * Removes copies of sources that nobody wanted for long, and the least recently used ones while all take too much. Only a
 * cache: what is wanted again is fetched again.
 * @returns how much went.
 */
export const sweepMirrors = async (
  { git, root, report }: MirrorsToSweep,
  bounds: MirrorBounds,
  nowMs: number,
): Promise<Swept> => {
  const folder = join(root, 'mirrors');
  await removeDrafts(folder, nowMs);
  const idleMs = Math.max(bounds.idleMs, IN_USE_MS);
  const swept = { pins: 0, mirrors: 0 };
  const kept: Kept[] = [];
  for (const mirror of await mirrorsIn(folder)) {
    try {
      const { idle, lastMs } = await sweepOne(git, mirror, nowMs - idleMs);
      swept.pins += idle;
      if (lastMs === null) swept.mirrors += 1;
      else kept.push({ mirror, lastMs });
    } catch (error) {
      // One mirror that git can not read stops no other, and no process.
      report(error, mirror);
    }
  }
  swept.mirrors += await shrink(kept, bounds.maxBytes, nowMs);
  return swept;
};

interface SweptMirror {
  /** Pins that went. */
  readonly idle: number;
  /** When it was wanted last; null when it went. */
  readonly lastMs: number | null;
}

const sweepOne = async (git: Git, mirror: string, sinceMs: number): Promise<SweptMirror> => {
  const uses = await adoptedUses(git, mirror);
  const idle = uses.filter(({ lastMs }) => lastMs < sinceMs);
  if (idle.length === uses.length) {
    await discard(mirror);
    return { idle: idle.length, lastMs: null };
  }
  if (idle.length > 0) await unpin(git, mirror, idle);
  return { idle: idle.length, lastMs: Math.max(...uses.map(({ lastMs }) => lastMs)) };
};

interface Kept {
  readonly mirror: string;
  readonly lastMs: number;
}

/** The empty start of tasks without a source is one commit for all time. */
const mirrorsIn = async (folder: string): Promise<string[]> =>
  (await entriesOf(folder))
    .filter((name) => name.endsWith('.git') && name !== 'empty.git')
    .map((name) => join(folder, name));

const entriesOf = (folder: string): Promise<string[]> => readdir(folder).catch((): string[] => []);

/** What a process that was killed had begun to make or to remove. */
const removeDrafts = async (folder: string, nowMs: number): Promise<void> => {
  for (const name of await entriesOf(folder)) {
    if (name.endsWith('.git')) continue;
    const made = await lstat(join(folder, name)).catch(() => null);
    if (made !== null && nowMs - made.mtimeMs > IN_USE_MS) await removeFolder(join(folder, name));
  }
};

/** Pins of a release that noted no uses are taken for used now. */
const adoptedUses = async (git: Git, mirror: string): Promise<MirrorUse[]> => {
  const known = await usesOf(mirror);
  if (known.length > 0) return known;
  const args = ['--git-dir', mirror, 'for-each-ref', '--format=%(objectname)', 'refs/pins'];
  const { stdout } = await git.run({ args });
  for (const commit of stdout.toString('utf8').split('\n')) if (commit !== '') await noteUse(mirror, commit);
  return usesOf(mirror);
};

/** Under another name first: nobody finds half a mirror. */
const discard = async (mirror: string): Promise<void> => {
  const trash = `${mirror}.${randomUUID()}`;
  await rename(mirror, trash);
  await removeFolder(trash);
};

const unpin = async (git: Git, mirror: string, idle: readonly MirrorUse[]): Promise<void> => {
  for (const { commit } of idle) {
    await git.run({ args: ['--git-dir', mirror, 'update-ref', '-d', pinOf(commit)] });
    await rm(useFile(mirror, commit), { force: true });
  }
  await git.run({ args: ['--git-dir', mirror, 'gc', '--quiet', PRUNE] });
};

/** @returns how many were removed. */
const shrink = async (kept: readonly Kept[], maxBytes: number, nowMs: number): Promise<number> => {
  const sized = await Promise.all(kept.map(async (each) => ({ ...each, bytes: await bytesOf(each.mirror) })));
  let total = sized.reduce((sum, { bytes }) => sum + bytes, 0);
  let removed = 0;
  for (const { mirror, lastMs, bytes } of sized.toSorted((a, b) => a.lastMs - b.lastMs)) {
    if (total <= maxBytes || nowMs - lastMs <= IN_USE_MS) return removed;
    await discard(mirror);
    removed += 1;
    total -= bytes;
  }
  return removed;
};

const bytesOf = async (folder: string): Promise<number> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(
    // A file may go away while it is counted.
    files.map(async ({ parentPath, name }) => (await lstat(join(parentPath, name)).catch(() => null))?.size ?? 0),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
};

const EVERY_MS = 6 * 3_600_000;

export interface MirrorSettings {
  /** Where git is found. */
  readonly path: string;
  /** {@link MirrorBounds} */
  readonly mirrorIdleMs: number;
  readonly mirrorMaxBytes: number;
}

interface MirrorSweepDeps extends Pick<MirrorsToSweep, 'report'> {
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
}

/** One round every six hours, for a loop. @param root of the workspaces of this process. */
export const mirrorSweeps = (
  root: string,
  { path, mirrorIdleMs: idleMs, mirrorMaxBytes: maxBytes }: MirrorSettings,
  { clock, report }: MirrorSweepDeps,
): ((signal: AbortSignal) => Promise<void>) => {
  const git = hostGit({ folder: join(root, 'git'), path });
  return async (signal) => {
    await sweepMirrors({ git, root, report }, { idleMs, maxBytes }, clock.now().getTime());
    await clock.sleep(EVERY_MS, signal);
  };
};

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, copyFile, lstat, mkdir, rm, rmdir, symlink } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { z } from 'zod';
import { systemErrorOf } from '../system-error.ts';
import { putInPlace } from './atomic-file.ts';
import { linkIn, workspacePath } from './inside.ts';
import { definePrimitive, failed, type PrimitiveContext, type PrimitiveResult } from './primitive.ts';
import { type Entry, readTree, type Tree, TreeProblem } from './tree.ts';

const isApart = ({ from, to }: { readonly from: string; readonly to: string }): boolean =>
  from !== to && !from.startsWith(`${to}/`) && !to.startsWith(`${from}/`);

const folders = { from: workspacePath.describe('the folder that is copied'), to: workspacePath.describe('the copy') };

interface Sides {
  readonly folder: string;
  readonly from: string;
  readonly to: string;
  readonly source: Tree;
  readonly copy: Tree;
}

/** What a copy still needs. */
interface Difference {
  /** Of the source, not or differently in the copy. */
  readonly missing: readonly string[];
  /** In the copy only, the deepest first. */
  readonly extra: readonly string[];
}

const hashOf = async (path: string): Promise<string> => {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
};

const isSame = async (sides: Sides, path: string, [a, b]: readonly [Entry, Entry | undefined]): Promise<boolean> => {
  if (a.kind === 'file' && b?.kind === 'file') {
    if (a.bytes !== b.bytes || (a.mode & 0o100) !== (b.mode & 0o100)) return false;
    const [left, right] = [sides.from, sides.to].map((side) => hashOf(join(sides.folder, side, path)));
    return (await left) === (await right);
  }
  if (a.kind === 'link' && b?.kind === 'link') return a.target === b.target;
  return a.kind === 'folder' && b?.kind === 'folder';
};

const differenceOf = async (sides: Sides, signal: AbortSignal): Promise<Difference> => {
  const missing: string[] = [];
  for (const [path, entry] of sides.source) {
    signal.throwIfAborted();
    if (!(await isSame(sides, path, [entry, sides.copy.get(path)]))) missing.push(path);
  }
  const extra = [...sides.copy.keys()].filter((path) => !sides.source.has(path));
  return { missing, extra: extra.sort().reverse() };
};

/** Why a copy would be wrong or can not be made; null when it can. Nothing has been changed by then. */
const obstacle = ({ to, source, copy }: Sides): string | null => {
  for (const [path, entry] of source) {
    if (entry.kind === 'link' && leadsOut(join(to, path), entry.target)) {
      return `${path} is a link that would lead out of the workspace`;
    }
    const there = copy.get(path);
    const fits = there === undefined || (there.kind === 'folder') === (entry.kind === 'folder');
    if (!fits) return `something is in the way of ${to}/${path}`;
  }
  return null;
};

const leadsOut = (place: string, target: string): boolean =>
  posix.isAbsolute(target) || posix.normalize(posix.join(posix.dirname(place), target)).split('/')[0] === '..';

const copyOne = async ({ folder, from, to, source }: Sides, path: string): Promise<boolean> => {
  const entry = source.get(path);
  const target = posix.join(to, path);
  if (entry?.kind === 'folder') {
    await mkdir(join(folder, target), { recursive: true });
    return true;
  }
  return putInPlace(folder, target, async (unfinished) => {
    if (entry?.kind === 'link') return symlink(entry.target, unfinished);
    await copyFile(join(folder, from, path), unfinished);
    await chmod(unfinished, entry?.mode ?? 0o644);
  });
};

const removeOne = async ({ folder, to, copy }: Sides, path: string): Promise<boolean> => {
  const place = join(folder, to, path);
  try {
    await (copy.get(path)?.kind === 'folder' ? rmdir(place) : rm(place));
    return true;
  } catch (error) {
    // A repository inside it is nobody's copy.
    if (systemErrorOf(error)?.code === 'ENOTEMPTY') return false;
    throw error;
  }
};

const carryOut = async (
  sides: Sides,
  { missing, extra }: Difference,
  signal: AbortSignal,
): Promise<PrimitiveResult> => {
  await mkdir(join(sides.folder, sides.to), { recursive: true });
  for (const path of extra) {
    signal.throwIfAborted();
    if (!(await removeOne(sides, path))) return failed(`${sides.to}/${path} holds a repository`);
  }
  for (const path of missing) {
    signal.throwIfAborted();
    if (!(await copyOne(sides, path))) return failed(`something is in the way of ${sides.to}/${path}`);
  }
  const output = { copied: missing.length, removed: extra.length };
  return { ok: true, output, detail: `${missing.length} copied, ${extra.length} removed` };
};

/** Both folders as they are; a result when one of them can not be used. */
const sidesOf = async (
  { folder: top, signal }: PrimitiveContext,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<Sides | PrimitiveResult> => {
  const folder = top ?? '';
  for (const path of [from, to]) {
    const link = await linkIn(folder, path);
    if (link !== null) return failed(`${link} is a link; links are not followed`);
  }
  const [there, copied] = await Promise.all([from, to].map((path) => kindOf(folder, path)));
  if (there !== 'folder') return failed(`${from} is no folder`);
  if (copied === 'other' || (await isBelowFile(folder, to))) return failed(`something is in the way of ${to}`);
  const source = await readTree(join(folder, from), signal);
  return { folder, from, to, source, copy: copied === 'folder' ? await readTree(join(folder, to), signal) : new Map() };
};

const kindOf = async (folder: string, path: string): Promise<'folder' | 'other' | 'nothing'> => {
  const found = await lstat(join(folder, path)).catch(() => null);
  return found === null ? 'nothing' : found.isDirectory() ? 'folder' : 'other';
};

const isBelowFile = async (folder: string, path: string): Promise<boolean> => {
  for (let above = dirname(path); above !== '.'; above = dirname(above)) {
    if ((await kindOf(folder, above)) === 'other') return true;
  }
  return false;
};

const judged = async (work: () => Promise<PrimitiveResult>): Promise<PrimitiveResult> => {
  try {
    return await work();
  } catch (error) {
    if (error instanceof TreeProblem) return failed(error.message);
    throw error;
  }
};

/** Copies a folder of the workspace to another place in it. */
export const copyTree = definePrimitive({
  name: 'copy-tree',
  description:
    'Copies a folder with all that is in it, `.git` aside; only what differs is written. A link that would lead out of the workspace, a pipe, or a file in place of a folder stops it before anything is changed.',
  effects: true,
  inProcess: false,
  parameters: z
    .strictObject({
      ...folders,
      delete: z.boolean().default(false).describe('true: what only the copy has is removed'),
    })
    .refine(isApart, 'needs two folders of which none is in the other'),
  promises: { check: 'trees-equal', with: ({ from, to, delete: only }) => ({ from, to, only }) },
  run: (context, asked) =>
    judged(async () => {
      const sides = await sidesOf(context, asked);
      if ('ok' in sides) return sides;
      const problem = obstacle(sides);
      if (problem !== null) return failed(problem);
      const { missing, extra } = await differenceOf(sides, context.signal);
      return carryOut(sides, { missing, extra: asked.delete ? extra : [] }, context.signal);
    }),
});

/** The check that belongs to {@link copyTree}. */
export const treesEqual = definePrimitive({
  name: 'trees-equal',
  description: 'Holds when a folder has all that another one has: content, executable bits, links.',
  effects: false,
  inProcess: false,
  parameters: z
    .strictObject({
      ...folders,
      only: z.boolean().default(false).describe('true: and the copy has nothing else'),
    })
    .refine(isApart, 'needs two folders of which none is in the other'),
  run: (context, asked) =>
    judged(async () => {
      const sides = await sidesOf(context, asked);
      if ('ok' in sides) return sides;
      if ((await kindOf(sides.folder, sides.to)) === 'nothing') return failed(`${sides.to} does not exist`);
      const { missing, extra } = await differenceOf(sides, context.signal);
      const wrong = asked.only ? [...missing, ...extra] : missing;
      const detail =
        wrong.length === 0 ? 'both are the same' : `${wrong.length} differ: ${wrong.slice(0, 3).join(', ')}`;
      return { ok: wrong.length === 0, output: { different: wrong.slice(0, 20), count: wrong.length }, detail };
    }),
});

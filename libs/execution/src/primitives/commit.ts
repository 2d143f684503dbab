import { copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { type Apart, apart } from '../apart.ts';
import { type Git, GitFailure } from '../git.ts';
import { isFile } from '../is-file.ts';
import { allBut, cachePaths, exclusion, only } from './exclusion.ts';
import { definePrimitive, failed, noRepository, type PrimitiveResult } from './primitive.ts';

interface Commit {
  readonly message: string;
  readonly exclude: readonly string[];
}

/** What git writes beside HEAD while a merge is under way; the commit ends it. */
const MERGE = ['MERGE_HEAD', 'MERGE_MODE'];
const UNDER_WAY = [...MERGE, 'MERGE_MSG', 'CHERRY_PICK_HEAD', 'REVERT_HEAD'];

/** Commits the index beside the folder's repository, then moves the branch that the folder is on. */
const commitIndex = async (git: Git, { gitDir, own, call }: Apart, message: string): Promise<void> => {
  for (const name of MERGE) if (isFile(join(own, name))) await copyFile(join(own, name), join(gitDir, name));
  await git.run({ ...call, args: ['commit', '--quiet', '--no-verify', '--no-gpg-sign', '-F', '-'], stdin: message });
  const made = await git.line({ ...call, args: ['rev-parse', 'HEAD'] });
  const { signal } = call;
  await git.run({ args: ['--git-dir', own, 'update-ref', '-m', 'commit', 'HEAD', made], signal });
  await Promise.all(UNDER_WAY.map((name) => rm(join(own, name), { force: true })));
};

const commitAll = async (git: Git, place: Apart, { message, exclude }: Commit): Promise<PrimitiveResult> => {
  const { own } = place;
  // Index and new objects are the folder's own.
  const env = { ...place.call.env, GIT_INDEX_FILE: join(own, 'index'), GIT_OBJECT_DIRECTORY: join(own, 'objects') };
  const call = { ...place.call, env };

  // Nobody else works in the folder of a run: a lock is what a killed git left.
  await rm(join(own, 'index.lock'), { force: true });
  await git.run({ ...call, args: ['add', '--all', '--', ...allBut(exclude)] });
  // What an earlier step staged by mistake.
  if (exclude.length > 0) await git.run({ ...call, args: ['reset', '--quiet', '--', ...only(exclude)] });
  const staged = await git.run({ ...call, args: ['diff', '--cached', '--name-only', '--no-renames', '-z'] });
  const files = staged.stdout
    .toString('utf8')
    .split('\0')
    .filter((path) => path !== '');
  if (files.length > 0) await commitIndex(git, { ...place, call }, message);
  const commit = await git.line({ ...call, args: ['rev-parse', 'HEAD'] });
  const detail = files.length === 0 ? 'nothing to commit' : `committed ${files.length} files as ${commit.slice(0, 12)}`;
  return { ok: true, output: { commit, count: files.length }, detail };
};

/** Commits what changed, without the mistakes that shell recipes make with excludes, quoting and ignored paths. */
export const commit = definePrimitive({
  name: 'commit',
  description:
    'Commits every change but caches (`node_modules`, `__pycache__`, `.venv` and the like); nothing to commit is fine. Runs no hooks and signs nothing.',
  effects: true,
  inProcess: false,
  parameters: z.strictObject({
    message: z
      .string()
      .regex(/\S/, 'says something')
      .regex(/^[^\0]*$/, 'holds no U+0000')
      .describe('the message'),
    exclude: z.array(exclusion).default([]).describe('paths that stay uncommitted, beside the caches of common tools'),
    exclude_caches: z.boolean().default(true).describe('false: caches are committed like anything else'),
  }),
  promises: {
    check: 'git-clean',
    with: ({ exclude, exclude_caches }) => ({ exclude: exclude_caches ? [...cachePaths, ...exclude] : exclude }),
  },
  run: async ({ folder, git, signal }, { message, exclude, exclude_caches }) => {
    const wanted = { message, exclude: exclude_caches ? [...cachePaths, ...exclude] : exclude };
    try {
      const place = { folder: folder ?? '', signal };
      return (await apart(git, place, (beside) => commitAll(git, beside, wanted))) ?? noRepository;
    } catch (error) {
      if (!(error instanceof GitFailure)) throw error;
      return failed(error.message);
    }
  },
});

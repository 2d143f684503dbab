import { z } from 'zod';
import { type Apart, apart } from '../apart.ts';
import { type Git, GitFailure } from '../git.ts';
import { workspacePath } from './inside.ts';
import { definePrimitive, failed, noRepository, type PrimitiveContext, type PrimitiveResult } from './primitive.ts';
import { readWorkspaceText } from './workspace-text.ts';

const shape = {
  patch: z.string().min(1).optional().describe('the patch itself, as `git diff` prints it'),
  file: workspacePath.optional().describe('a file of the workspace that holds the patch; one of the two is needed'),
  strip: z.int().min(0).max(9).default(1).describe('parts to take off the front of each path'),
};

const parameters = z
  .strictObject(shape)
  .refine(({ patch, file }) => (patch === undefined) !== (file === undefined), 'takes either patch or file');
type Parameters = z.output<typeof parameters>;

/** A patch of single files: each begins where git says so, or, in a plain patch, with its two names. */
const patchesOf = (patch: string): string[] => {
  const begins = /^diff --git /m.test(patch) ? /^(?=diff --git )/m : /^(?=--- [^\n]*\n\+\+\+ )/m;
  return patch.split(begins).filter((part) => /^(?:diff --git |--- )/.test(part));
};

interface Applying {
  readonly git: Git;
  readonly place: Apart;
  readonly strip: number;
}

/** Git looks at every hunk before it writes; it refuses paths that leave the folder or pass through a link. */
const apply = async (
  { git, place, strip }: Applying,
  patch: string,
  flags: readonly string[],
): Promise<string | null> => {
  const args = ['apply', '--whitespace=nowarn', `-p${strip}`, ...flags, '-'];
  try {
    await git.run({ ...place.call, args, stdin: patch });
    return null;
  } catch (error) {
    if (error instanceof GitFailure) return error.message;
    throw error;
  }
};

const isApplied = async (applying: Applying, patch: string): Promise<boolean> =>
  (await apply(applying, patch, ['--check', '--reverse'])) === null;

/** Parts that are still to be applied; a text when one neither is applied nor can be. */
const missingParts = async (applying: Applying, patch: string): Promise<readonly string[] | string> => {
  if (await isApplied(applying, patch)) return [];
  const problem = await apply(applying, patch, ['--check']);
  if (problem === null) return [patch];
  const missing: string[] = [];
  // A step that was cut short has left whole files behind.
  for (const part of patchesOf(patch)) {
    if (await isApplied(applying, part)) continue;
    if ((await apply(applying, part, ['--check'])) !== null) return problem;
    missing.push(part);
  }
  return missing.length === 0 ? problem : missing;
};

const applyMissing = async (applying: Applying, patch: string): Promise<PrimitiveResult> => {
  const missing = await missingParts(applying, patch);
  if (typeof missing === 'string') return failed(`the patch does not apply: ${missing}`);
  for (const part of missing) {
    const problem = await apply(applying, part, []);
    if (problem !== null) return failed(`the patch does not apply: ${problem}`);
  }
  const changed = missing.length > 0;
  return { ok: true, output: { changed }, detail: `the patch ${changed ? 'is' : 'was'} applied` };
};

const withPatch = async (
  { git, folder, signal }: PrimitiveContext,
  { patch, file, strip }: Parameters,
  work: (applying: Applying, patch: string) => Promise<PrimitiveResult>,
): Promise<PrimitiveResult> => {
  const read = file === undefined ? null : await readWorkspaceText(folder ?? '', file);
  if (read?.found === 'unusable') return failed(`${file} ${read.problem}`);
  if (read?.found === 'nothing') return failed(`${file} does not exist`);
  const text = patch ?? read?.text ?? '';
  const place = { folder: folder ?? '', signal };
  return (await apart(git, place, (beside) => work({ git, place: beside, strip }, text))) ?? noRepository;
};

/** Applies a patch to the files of a repository, all of it or nothing. */
export const gitApplyPatch = definePrimitive({
  name: 'git-apply-patch',
  description:
    'Applies a patch to the files, all of it or nothing; one that is applied already is fine. Paths that leave the folder, reach into .git or pass through a link are refused.',
  effects: true,
  inProcess: false,
  parameters,
  promises: { check: 'git-patch-applied', with: (asked) => ({ ...asked }) },
  run: (context, asked) => withPatch(context, asked, applyMissing),
});

/** The check that belongs to {@link gitApplyPatch}. */
export const gitPatchApplied = definePrimitive({
  name: 'git-patch-applied',
  description: 'Holds when a patch is in the files: it could be taken out again as it stands.',
  effects: false,
  inProcess: false,
  parameters,
  run: (context, asked) =>
    withPatch(context, asked, async (applying, patch) => {
      const ok = await isApplied(applying, patch);
      return { ok, output: null, detail: `the patch ${ok ? 'is' : 'is not'} in the files` };
    }),
});

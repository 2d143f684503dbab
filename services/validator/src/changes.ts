import { lstat, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Finding } from '@fixpoint/contracts/verdict';
import type { WorkspaceRef } from '@fixpoint/contracts/workspace';
import type { Artifacts } from '@fixpoint/event-store/artifacts';
import type { ChangedFile, Workspaces } from '@fixpoint/execution/workspaces';
import { type AddedLines, readPatch } from '@fixpoint/validation/added-lines';
import { artifactText } from '@fixpoint/validation/artifact-text';
import { scanForSecrets, UNSCANNED_RULE } from '@fixpoint/validation/secret-scan';
import { LRUCache } from 'lru-cache';
import type { WorkspaceCopy } from './workspace-copy.ts';

/** What a lineage has changed in its workspace, from the commit it started from. */
export interface Changes {
  readonly paths: readonly string[];
  readonly secrets: readonly Finding[];
}

export interface ChangesDeps {
  readonly workspaces: Pick<Workspaces, 'diff'>;
  readonly artifacts: Pick<Artifacts, 'get'>;
}

/** @param copy of `ref`; asked for only when files are in it that a patch does not show. */
export type FindChanges = (ref: WorkspaceRef, copy: WorkspaceCopy) => Promise<Changes>;

const none: Changes = { paths: [], secrets: [] };
const mostPatchBytes = 128 * 1024 * 1024;
const mostFileBytes = 16 * 1024 * 1024;

/**
 * Looks at everything since the lineage's first commit, not only at the last run: a run that only checks changes nothing,
 * and what an earlier one left behind would pass. Remembered by commit, so that judging the same again costs
 * nothing.
 */
export const changesSinceStart = (deps: ChangesDeps): FindChanges => {
  const known = new LRUCache<string, Changes>({ max: 256 });
  return async (ref, copy) => {
    if (ref.commit === ref.base) return none;
    const key = `${ref.base} ${ref.commit}`;
    const changes = known.get(key) ?? (await findChanges(deps, ref, copy));
    known.set(key, changes);
    return changes;
  };
};

const findChanges = async (
  { workspaces, artifacts }: ChangesDeps,
  ref: WorkspaceRef,
  copy: WorkspaceCopy,
): Promise<Changes> => {
  // Git compares commits as it does trees, and the tree of the base is not known here.
  const start: WorkspaceRef = { ...ref, head: ref.base, commit: ref.base, tree: ref.base, bundle: null };
  const { patch, files, history } = await workspaces.diff(start, ref);
  const shown = patch === null ? [] : await secretsShown(artifacts, patch.hash, { copy, isGone: goneIn(files) });
  const gone = history === undefined ? [] : await secretsGone(artifacts, history.hash, shown);
  return { paths: files.map(({ path }) => path), secrets: [...shown, ...gone] };
};

type Reading = ChangesDeps['artifacts'];

interface Place {
  readonly copy: WorkspaceCopy;
  readonly isGone: (path: string) => boolean;
}

/** Names that are no text may look the same: gone is what all of that name are. */
const goneIn = (files: readonly ChangedFile[]): Place['isGone'] => {
  const there = new Set(files.filter(({ change }) => change !== 'deleted').map(({ path }) => path));
  return (path) => !there.has(path);
};

/** In the files as they are at the end. */
const secretsShown = async (artifacts: Reading, patch: string, place: Place): Promise<Finding[]> => {
  const text = await artifactText(artifacts, patch, mostPatchBytes);
  if (text === null) return [tooMuch(null)];
  const { added, binary } = readPatch(text);
  return [...(await scanForSecrets(added)), ...(await scanBinaries(binary, place))];
};

/** Removed again, but still in the history that goes out with the result. */
const secretsGone = async (artifacts: Reading, history: string, shown: readonly Finding[]): Promise<Finding[]> => {
  const text = await artifactText(artifacts, history, mostPatchBytes);
  if (text === null) return [tooMuch(null)];
  const isShown = new Set(shown.map(({ path, rule }) => `${rule} ${path}`));
  const found = await scanForSecrets(readPatch(text).added);
  return found
    .filter(({ path, rule }) => !isShown.has(`${rule} ${path}`))
    .map((finding) => ({ ...finding, message: `${finding.message} in a commit on the way` }));
};

const unscanned = (path: string | null, message: string): Finding => ({
  rule: UNSCANNED_RULE,
  path,
  line: null,
  criterion: null,
  message,
});

const tooMuch = (path: string | null): Finding => unscanned(path, 'too much was changed to be scanned for secrets');

/** A file with one zero byte in it is binary for git; its text is scanned as well as any other. */
const scanBinaries = async (paths: readonly string[], { copy, isGone }: Place): Promise<Finding[]> => {
  const findings: Finding[] = [];
  for (const path of paths) if (!isGone(path)) findings.push(...(await scanBinary(path, await copy.folder())));
  return findings;
};

const scanBinary = async (path: string, folder: string): Promise<Finding[]> => {
  const file = join(folder, path);
  // A name that is no text can not be opened by what is left of it, and another file may be called just that.
  const about = path.includes('\ufffd') ? null : await lstat(file).catch(() => null);
  if (about === null) return [unscanned(path, 'could not be read, so it was not scanned for secrets')];
  if (!about.isFile()) return [];
  return about.size > mostFileBytes ? [tooMuch(path)] : scanForSecrets([await linesOf(file, path)]);
};

const linesOf = async (file: string, path: string): Promise<AddedLines> => {
  const text = await readFile(file, 'latin1');
  return { path, lines: text.split('\n').map((line, at) => ({ number: at + 1, text: line })) };
};

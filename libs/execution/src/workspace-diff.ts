import type { Artifacts } from '@fixpoint/event-store/artifacts';
import type { Git } from './git.ts';
import type { ChangedFile, DiffText, WorkspaceDiff } from './workspaces.ts';

const changes: Readonly<Record<string, ChangedFile['change']>> = {
  A: 'added',
  D: 'deleted',
  M: 'modified',
  T: 'typed',
};

/** `A\0path\0M\0path\0` */
const parseNameStatus = (output: string): ChangedFile[] => {
  const fields = output.split('\0');
  const files: ChangedFile[] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    files.push({ path: fields[i + 1] ?? '', change: changes[fields[i] ?? ''] ?? 'modified' });
  }
  return files;
};

/** Compares two trees that a repository reaches. Neither drivers nor rename detection: the same trees give the same bytes. */
export const diffOf = async (
  { git, artifacts }: { git: Git; artifacts: Artifacts },
  gitDir: string,
  { from, to }: Between,
): Promise<WorkspaceDiff> => {
  if (from === to) return { patch: null, files: [] };
  const files = await changedFiles(git, gitDir, { from, to });
  const patch = git.stream({
    args: [...comparing(gitDir), '--patch', '--binary', '--full-index', '--no-color', from, to],
  });
  return { patch: await artifacts.put(patch), files };
};

interface Between {
  readonly from: string;
  readonly to: string;
}

const comparing = (gitDir: string): string[] => [
  ...['--git-dir', gitDir, 'diff-tree', '-r'],
  ...['--no-renames', '--no-ext-diff', '--no-textconv'],
];

const changedFiles = async (git: Git, gitDir: string, { from, to }: Between): Promise<ChangedFile[]> => {
  const { stdout } = await git.run({ args: [...comparing(gitDir), '--name-status', '-z', from, to] });
  return parseNameStatus(stdout.toString('utf8'));
};

/** The first bytes of a comparison of two trees, cut after a line. */
export const diffTextOf = async (
  git: Git,
  gitDir: string,
  { from, to, mostBytes }: Between & { readonly mostBytes: number },
): Promise<DiffText> => {
  if (from === to) return { files: [], text: '', isCut: false };
  const files = await changedFiles(git, gitDir, { from, to });
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of git.stream({ args: [...comparing(gitDir), '--patch', '--no-color', from, to] })) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > mostBytes) break;
  }
  const isCut = bytes > mostBytes;
  const kept = Buffer.concat(chunks).subarray(0, mostBytes);
  return { files, text: (isCut ? kept.subarray(0, kept.lastIndexOf(0x0a) + 1) : kept).toString('utf8'), isCut };
};

/**
 * What the commits between two added or changed on the way, each against its parents, as one patch in which nothing counts
 * as binary. Absent where the end alone shows all of it: no commit, or the snapshot's own.
 */
export const onTheWay = async (
  { git, artifacts }: { git: Git; artifacts: Artifacts },
  gitDir: string,
  { from, to }: Between,
): Promise<Pick<WorkspaceDiff, 'history'>> => {
  const range = [to, `^${from}`];
  const commits = await git.line({ args: ['--git-dir', gitDir, 'rev-list', '--count', ...range] });
  if (Number(commits) < 2) return {};
  const plain = ['--no-renames', '--no-ext-diff', '--no-textconv', '--text', '--full-index', '--no-color'];
  const log = ['--git-dir', gitDir, 'log', '--format=', '--patch', '--diff-merges=separate', ...plain, ...range];
  return { history: await artifacts.put(git.stream({ args: log })) };
};

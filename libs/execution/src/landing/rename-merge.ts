import type { Git } from '../git.ts';
import { type Clash, clashesIn, fieldsOf, type PathBytes } from './merge-entry.ts';

/** Three trees in a repository that reaches them. */
export interface ThreeTrees {
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
}

/** What git made of three trees when it followed renames. */
export interface RenameMerge {
  /** With marks in it where the sides clash. */
  readonly tree: string;
  readonly clashes: readonly Clash[];
  /** Paths whose content git takes as one piece. */
  readonly whole: ReadonlySet<PathBytes>;
  /** Each clash is about the content of one path, so that it can be put right path by path. */
  readonly isPlain: boolean;
}

/** Kinds of clashes that are about one path and its content. */
const PLAIN = new Set(['CONFLICT (contents)', 'CONFLICT (binary)', 'CONFLICT (modify/delete)']);

/** `git merge-tree` finds the base in the history, so it gets one of three commits that nobody keeps. */
const historyOf = async (git: Git, gitDir: string, { base, ours, theirs }: ThreeTrees): Promise<string[]> => {
  const commit = (tree: string, parents: readonly string[]) =>
    git.line({
      args: ['--git-dir', gitDir, 'commit-tree', '-m', 'Side', ...parents.flatMap((id) => ['-p', id]), tree],
    });
  const root = await commit(base, []);
  return [await commit(ours, [root]), await commit(theirs, [root])];
};

/** Where a side has moved a folder, what the other side adds stays where it was added. */
const SETTINGS = ['-c', 'merge.directoryRenames=false', '-c', 'merge.renames=true'];

export const renameMerge = async (git: Git, gitDir: string, trees: ThreeTrees): Promise<RenameMerge> => {
  const sides = await historyOf(git, gitDir, trees);
  const args = [...SETTINGS, '--git-dir', gitDir, 'merge-tree', '--write-tree', '-z', ...sides];
  const { stdout } = await git.run({ args, answers: [0, 1] });
  const [tree = '', ...fields] = fieldsOf(stdout);
  const end = fields.indexOf('');
  const entries = end === -1 ? fields : fields.slice(0, end);
  const said = end === -1 ? [] : messagesIn(fields.slice(end + 1));
  const conflicts = said.filter(({ kind }) => kind.startsWith('CONFLICT'));
  return {
    tree,
    clashes: clashesIn(entries),
    whole: new Set(conflicts.filter(({ kind }) => kind === 'CONFLICT (binary)').flatMap(({ paths }) => paths)),
    isPlain: conflicts.every(({ kind }) => PLAIN.has(kind)),
  };
};

interface Message {
  readonly paths: readonly PathBytes[];
  /** Stable, unlike the text that follows it. */
  readonly kind: string;
}

/** `<count>\0<path>\0…<kind>\0<text>\0`, any number of them. */
const messagesIn = (fields: readonly string[]): Message[] => {
  const messages: Message[] = [];
  for (let at = 0; at < fields.length; ) {
    const count = Number(fields[at]);
    if (!Number.isInteger(count) || fields[at] === '') break;
    messages.push({ paths: fields.slice(at + 1, at + 1 + count), kind: fields[at + 1 + count] ?? '' });
    at += count + 3;
  }
  return messages;
};

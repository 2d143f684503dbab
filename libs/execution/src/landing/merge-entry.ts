/** Names byte by byte, as latin1: git has no encoding. */
export type PathBytes = string;

/** One of up to three versions of a path that clashes. */
export interface Version {
  /** As git writes it, `100644`. */
  readonly mode: string;
  readonly blob: string;
}

/** A path that could not be merged: what each side has there; null where it has nothing. */
export interface Clash {
  readonly path: PathBytes;
  readonly base: Version | null;
  readonly ours: Version | null;
  readonly theirs: Version | null;
}

const SIDES = ['base', 'ours', 'theirs'] as const;

/** `100644 <blob> 2\t<path>` of an index or of `git merge-tree`, any number of them, by path. */
export const clashesIn = (entries: readonly string[]): Clash[] => {
  const clashes = new Map<PathBytes, Clash>();
  for (const entry of entries) {
    const found = /^(\d{6}) ([0-9a-f]{40}) ([123])\t(.+)$/s.exec(entry);
    if (found === null) continue;
    const [, mode = '', blob = '', stage = '', path = ''] = found;
    const clash = clashes.get(path) ?? { path, base: null, ours: null, theirs: null };
    clashes.set(path, { ...clash, [SIDES[Number(stage) - 1] ?? 'base']: { mode, blob } });
  }
  return [...clashes.values()];
};

/** What git prints with `-z`. */
export const fieldsOf = (output: Buffer): string[] => output.toString('latin1').split('\0');

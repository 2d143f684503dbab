import { mkdir, readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** When a pinned commit of a mirror was wanted last: the time of a file of its name, inside the mirror. */
export interface MirrorUse {
  readonly commit: string;
  /** Ms since 1970. */
  readonly lastMs: number;
}

const fileOf = (mirror: string, commit: string): string => join(mirror, 'uses', commit);

export const noteUse = async (mirror: string, commit: string): Promise<void> => {
  const now = new Date();
  try {
    await utimes(fileOf(mirror, commit), now, now);
  } catch {
    await mkdir(join(mirror, 'uses'), { recursive: true });
    await writeFile(fileOf(mirror, commit), '');
  }
};

/** Empty for a mirror that nobody noted a use of. */
export const usesOf = async (mirror: string): Promise<MirrorUse[]> => {
  const commits = await readdir(join(mirror, 'uses')).catch((): string[] => []);
  return Promise.all(commits.map(async (commit) => ({ commit, lastMs: (await stat(fileOf(mirror, commit))).mtimeMs })));
};

export const useFile = fileOf;

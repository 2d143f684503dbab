import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

const FOLDER = new URL('../domain/lineage/', import.meta.url);

/**
 * Names the code that folds lineages: any change of it is another name, and what other code has folded is not used. Read
 * from the files that run, so that nobody has to remember to raise a number.
 */
export const foldVersion = (): string => {
  const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((file) => /^([a-z-]+\/)*[a-z-]+\.(ts|js)$/.test(file))
    .sort();
  return hash('sha256', files.map((file) => `${file}\n${readFileSync(new URL(file, FOLDER), 'utf8')}`).join('\n'));
};

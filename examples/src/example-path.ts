import { delimiter, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const SYSTEM_PATH = '/usr/local/bin:/usr/bin:/bin';

/** PATH for the examples' commands: the formatter that is installed with the product and this Node come first. */
export const examplePath = (path: string | undefined): string => {
  const biome = fileURLToPath(import.meta.resolve('@biomejs/biome/package.json'));
  const binaries = `${dirname(dirname(dirname(biome)))}/.bin`;
  return [binaries, dirname(process.execPath), path === undefined || path === '' ? SYSTEM_PATH : path].join(delimiter);
};

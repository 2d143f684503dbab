import { spawnSync } from 'node:child_process';
import { relative } from 'node:path';
import { sourceFiles } from './source-files.ts';

/** Compiles everything, tests included, without output, and fails when the compiler did not see a source file. */
const main = (): number => {
  const root = process.cwd();
  const compiler = spawnSync('node', ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json', '--listFiles'], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const lines = `${compiler.stdout}${compiler.stderr}`.split('\n').filter((line) => line !== '');
  const listed = lines.filter((line) => line.startsWith('/'));
  for (const line of lines) if (!line.startsWith('/')) console.error(line);

  const seen = new Set(listed.map((path) => relative(root, path)));
  const sources = sourceFiles(root);
  const unseen = sources.filter((path) => !seen.has(path));
  for (const path of unseen) console.error(`${path}: not seen by the compiler; add its folder to tsconfig.json`);

  console.log(`types: ${sources.length - unseen.length} of ${sources.length} source files`);
  return compiler.status === 0 && unseen.length === 0 && sources.length > 0 ? 0 : 1;
};

process.exitCode = main();

import { spawnSync } from 'node:child_process';
import { sourceFiles } from './source-files.ts';

/** `node tools/check-style.ts format|lint`: Biome over everything, and the proof that it looked at every source file. */
const main = (command: string): number => {
  const run = spawnSync(
    'node',
    ['node_modules/@biomejs/biome/bin/biome', command, '--error-on-warnings', '--max-diagnostics=none', '.'],
    {
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    },
  );
  const output = `${run.stdout}${run.stderr}`;
  if (run.status !== 0) console.error(output);

  const looked = Number(/Checked (\d+) files?/.exec(output)?.[1] ?? 0);
  const sources = sourceFiles('.').length;
  if (looked < sources) console.error(`Biome looked at ${looked} of ${sources} source files`);
  console.log(`${command}: ${looked} files looked at, ${sources} source files`);
  return run.status === 0 && looked >= sources ? 0 : 1;
};

const [command] = process.argv.slice(2);
if (command !== 'format' && command !== 'lint') throw new Error('usage: node tools/check-style.ts format|lint');
process.exitCode = main(command);

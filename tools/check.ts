import { spawnSync } from 'node:child_process';

/** Runs every check even when an earlier one fails, each as the npm script of its own that a person would repeat. */
const CHECKS = ['format', 'lint', 'types', 'imports', 'unused', 'tidy'];

const failed = CHECKS.filter((check) => {
  const { status } = spawnSync('npm', ['run', '--silent', `check:${check}`], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return status !== 0;
});

if (failed.length > 0) console.error(`failed: ${failed.map((check) => `npm run check:${check}`).join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;

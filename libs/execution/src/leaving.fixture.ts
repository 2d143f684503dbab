import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { memoryArtifacts } from './artifacts.fixture.ts';
import { hostRunner } from './process-runner.ts';
import { noSandbox } from './sandbox/no-sandbox.ts';

/**
 * Begins one shell command in a process of its own, which exits with 7 when its input ends.
 * Arguments: a private folder, the command.
 */
const [folder = tmpdir(), text = 'true'] = process.argv.slice(2);
const runner = hostRunner({
  artifacts: memoryArtifacts(),
  folder,
  path: '/usr/bin:/bin',
  sandbox: noSandbox('/usr/bin:/bin'),
});
void runner.run({ program: { kind: 'shell', text }, cwd: tmpdir(), timeoutMs: 120_000 });
await once(process.stdin.resume(), 'end');
process.exit(7);

import { tmpdir } from 'node:os';
import { forgetfulArtifacts } from './artifacts.fixture.ts';
import { hostRunner } from './process-runner.ts';
import { noSandbox } from './sandbox/no-sandbox.ts';

/**
 * Runs one shell command in a process of its own and prints by how many bytes its resident memory grew over idle.
 * Arguments: a private folder, the command.
 */
const [folder = tmpdir(), text = 'true'] = process.argv.slice(2);
const runner = hostRunner({
  artifacts: forgetfulArtifacts(),
  folder,
  path: '/usr/bin:/bin',
  sandbox: noSandbox('/usr/bin:/bin'),
});
const run = (command: string) =>
  runner.run({ program: { kind: 'shell', text: command }, cwd: tmpdir(), timeoutMs: 120_000 });

await run('echo warm; echo warm >&2');
const idle = process.memoryUsage.rss();
let most = idle;
const watch = setInterval(() => {
  most = Math.max(most, process.memoryUsage.rss());
}, 5);
const { status, exitCode, stdout } = await run(text);
clearInterval(watch);
most = Math.max(most, process.memoryUsage.rss());
process.stdout.write(
  JSON.stringify({ grown: most - idle, status, exitCode, bytes: stdout.bytes, tail: stdout.tail.slice(-8) }),
);

import { tmpdir } from 'node:os';
import { memoryArtifacts } from '../artifacts.fixture.ts';
import { hostRunner } from '../process-runner.ts';
import { findSandbox } from './find-sandbox.ts';

/** Runs a command in the sandbox of this host until somebody kills this process. Arguments: a private folder, the command. */
const [folder = tmpdir(), text = 'true'] = process.argv.slice(2);
const path = '/usr/bin:/bin';
const { sandbox } = await findSandbox({ path, folder });
const runner = hostRunner({ artifacts: memoryArtifacts(), folder, path, sandbox });
await runner.run({
  program: { kind: 'shell', text: `(setsid ${text} &); exec ${text}` },
  cwd: tmpdir(),
  timeoutMs: 120_000,
});

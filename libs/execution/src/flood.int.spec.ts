import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { memoryArtifacts } from './artifacts.fixture.ts';
import { hostRunner } from './process-runner.ts';
import { noSandbox } from './sandbox/no-sandbox.ts';

const fixture = fileURLToPath(new URL('./flood.fixture.ts', import.meta.url));
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fixpoint-flood-'));
});

afterAll(() => rmSync(folder, { recursive: true }));

const flooded = async (command: string) => {
  const args = ['--conditions=@fixpoint/source', '--no-warnings', fixture, folder, command];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as { grown: number; exitCode: number; bytes: number; tail: string };
};

describe('a flood of output', () => {
  test.each([
    ['E11: 200 MB in lines', 'yes 123456789 | head -c 200000000; echo; echo last', 200_000_006],
    ['E11: one line of 50 MB', 'head -c 50000000 /dev/zero | tr "\\\\0" x; echo; echo last', 50_000_006],
  ])(
    '%s takes less than 50 MB of memory',
    async (_, command, bytes) => {
      const { grown, ...rest } = await flooded(command);
      expect(rest).toMatchObject({ exitCode: 0, bytes });
      expect(rest.tail.endsWith('last\n')).toBe(true);
      expect(grown).toBeLessThan(50_000_000);
    },
    120_000,
  );

  test('I-B01 E11: neither kills the command nor loses a byte around a buffer of 1 MiB', async () => {
    const artifacts = memoryArtifacts();
    const runner = hostRunner({ artifacts, folder, path: '/usr/bin:/bin', sandbox: noSandbox('/usr/bin:/bin') });
    for (const bytes of [0, 1_048_575, 1_048_576, 1_048_577, 5_000_000]) {
      const text = `head -c ${bytes} /dev/zero; head -c ${bytes} /dev/zero >&2; exit 4`;
      const result = await runner.run({ program: { kind: 'shell', text }, cwd: folder, timeoutMs: 30_000 });
      expect(result).toMatchObject({ status: 'exited', exitCode: 4, stdout: { bytes }, stderr: { bytes } });
      if (bytes > 0) expect(artifacts.bytesOf(result.stdout.hash).equals(Buffer.alloc(bytes))).toBe(true);
    }
  });

  test('waits for a store that takes nothing, and a time-out still ends it', async () => {
    const { promise: opened, resolve: open } = Promise.withResolvers<void>();
    const put = async (source: AsyncIterable<Uint8Array> | Uint8Array) => {
      await opened;
      let bytes = 0;
      for await (const chunk of source instanceof Uint8Array ? [source] : source) bytes += chunk.length;
      return { hash: 'h', bytes };
    };
    const runner = hostRunner({
      artifacts: { put, get: async () => null },
      folder,
      path: '/usr/bin:/bin',
      sandbox: noSandbox('/usr/bin:/bin'),
    });
    const program = { kind: 'shell', text: 'yes' } as const;
    const running = runner.run({ program, cwd: folder, timeoutMs: 500 });
    setTimeout(open, 3_000);
    const result = await running;
    // A pipe and a stream buffer at most: the flood stood still while the store did.
    expect(result.status).toBe('timed_out');
    expect(result.stdout.bytes).toBeLessThan(1_000_000);
  });

  test('into a store that fails kills the command and throws what the store threw', async () => {
    const put = async () => Promise.reject(new Error('store is down'));
    const runner = hostRunner({
      artifacts: { put, get: async () => null },
      folder,
      path: '/usr/bin:/bin',
      sandbox: noSandbox('/usr/bin:/bin'),
    });
    const program = { kind: 'shell', text: 'echo x; sleep 320' } as const;
    await expect(runner.run({ program, cwd: folder, timeoutMs: 60_000 })).rejects.toThrow('store is down');
    const { stdout } = await promisify(execFile)('sh', ['-c', 'pgrep -fx "sleep 320" || echo none']);
    expect(stdout).toBe('none\n');
  });
});

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fixpoint-atomic-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const module = (name: string): string => JSON.stringify(new URL(name, import.meta.url).href);

const run = (program: string, before = ''): ReturnType<typeof spawnSync> =>
  spawnSync('bash', ['-c', `${before} exec "$NODE" --conditions=@fixpoint/source --input-type=module -e "$PROGRAM"`], {
    env: { PATH: '/usr/bin:/bin', NODE: process.execPath, PROGRAM: program },
    stdio: 'ignore',
  });

/** Runs a primitive in a process that may write no file longer than 64 KiB. */
const runInSmallProcess = (name: string, parameters: object): { failed: boolean } => {
  const context = `{ folder: ${JSON.stringify(folder)}, scratch: new Map(), git: null, signal: new AbortController().signal }`;
  const { status } = run(
    `const { runPrimitive } = await import(${module('./primitives.ts')});
    await runPrimitive(${JSON.stringify(name)}, ${JSON.stringify(parameters)}, ${context});`,
    'ulimit -f 64;',
  );
  return { failed: status !== 0 };
};

describe('a step that can not write to the end', () => {
  const long = 'x'.repeat(100 * 1024);

  test.each<[string, string, string, object]>([
    ['file-write', 'f', 'old', { path: 'f', content: long }],
    ['line-in-file', 'f', 'old\n', { path: 'f', line: long }],
    ['json-set', 'f', '{}', { path: 'f', pointer: '/a', value: long }],
    ['json-normalise', 'f', JSON.stringify(Array.from({ length: 20_000 }, () => 1)), { path: 'f' }],
  ])('%s leaves the old file', (name, path, old, parameters) => {
    writeFileSync(join(folder, path), old);
    expect(runInSmallProcess(name, parameters)).toEqual({ failed: true });
    expect(readFileSync(join(folder, path), 'utf8')).toBe(old);
  });

  test('copy-tree leaves whole files only', () => {
    mkdirSync(join(folder, '.git'));
    mkdirSync(join(folder, 'src'));
    writeFileSync(join(folder, 'src/a'), 'a');
    writeFileSync(join(folder, 'src/b'), long);
    expect(runInSmallProcess('copy-tree', { from: 'src', to: 'copy' })).toEqual({ failed: true });
    expect(readdirSync(folder).sort()).toEqual(['.git', 'copy', 'src']);
    expect(readdirSync(join(folder, 'copy'))).toEqual(['a']);
  });

  test('and one that can is done', () => {
    expect(runInSmallProcess('file-write', { path: 'f', content: 'short' })).toEqual({ failed: false });
    expect(readFileSync(join(folder, 'f'), 'utf8')).toBe('short');
  });
});

test('a process that is killed leaves the old file, and nothing that git would see', () => {
  mkdirSync(join(folder, '.git'));
  writeFileSync(join(folder, 'f'), 'old');
  const { signal } = run(
    `import { writeFileSync } from 'node:fs';
    const { putInPlace } = await import(${module('./atomic-file.ts')});
    await putInPlace(${JSON.stringify(folder)}, 'f', async (unfinished) => {
      writeFileSync(unfinished, 'half');
      process.kill(process.pid, 'SIGKILL');
    });`,
  );
  expect([signal, readFileSync(join(folder, 'f'), 'utf8')]).toEqual(['SIGKILL', 'old']);
  expect([readdirSync(folder).sort(), readdirSync(join(folder, '.git')).length]).toEqual([['.git', 'f'], 1]);
});

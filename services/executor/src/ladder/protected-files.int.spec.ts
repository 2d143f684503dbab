import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { hashOfProtected } from './protected-files.ts';

describe('protected files', () => {
  let folder: string;
  const hash = () => hashOfProtected(['.ci/**', 'check.sh'], folder);
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'protected-'));
    await mkdir(join(folder, '.ci'));
    await writeFile(join(folder, '.ci/run'), 'run');
    await writeFile(join(folder, 'check.sh'), 'check');
  });
  afterEach(() => rm(folder, { recursive: true }));

  test('nothing is read without globs', async () => expect(await hashOfProtected([], '/nowhere')).toBeNull());
  test('other files do not matter', async () => {
    const before = await hash();
    await writeFile(join(folder, 'other'), 'x');
    expect(await hash()).toBe(before);
  });
  test.each([
    ['changed', (at: string) => writeFile(join(at, 'check.sh'), 'exit 0')],
    ['made executable', (at: string) => chmod(join(at, 'check.sh'), 0o755)],
    ['added in a hidden folder', (at: string) => writeFile(join(at, '.ci/other'), 'x')],
    ['removed', (at: string) => rm(join(at, '.ci/run'))],
    [
      'replaced by a link',
      async (at: string) => {
        await rm(join(at, 'check.sh'));
        await symlink('/bin/true', join(at, 'check.sh'));
      },
    ],
  ])('C23 a file that was %s is noticed', async (_, change) => {
    const before = await hash();
    await change(folder);
    expect(await hash()).not.toBe(before);
  });
});

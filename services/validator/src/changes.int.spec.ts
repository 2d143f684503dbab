import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkspaceRef } from '@fixpoint/contracts/workspace';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { validatorWorld } from './validator.fixture.ts';
import { withCopy } from './workspace-copy.ts';

// Real git on a busy machine.
jest.setTimeout(30_000);

let world: Awaited<ReturnType<typeof validatorWorld>>;
beforeEach(async () => {
  world = await validatorWorld();
});
afterEach(() => world.close());

const token = ['ghp', 'a1B2'.repeat(9)].join('_');
const NO_TEXT = `"$(printf 'a\\377')"`;

const secretsIn = async (ref: WorkspaceRef) => {
  const deps = world.deps();
  const { secrets } = await withCopy(deps, { ref, source: null }, (copy) => deps.changes(ref, copy));
  return secrets.map(({ rule, path, line }) => [rule, path, line]);
};

describe('secrets in what a lineage changed', () => {
  test.each(['UTF-16LE', 'UTF-16BE', 'UTF-16'])('are found in a file in %s', async (encoding) => {
    const ref = await world.worked(`printf 'a\n${token}\n' | iconv -t ${encoding} > wide.txt`);
    expect(await secretsIn(ref)).toEqual([['github/GITHUB_TOKEN', 'wide.txt', 2]]);
  });

  test('may be in a binary file whose name is no text: it was not scanned', async () => {
    // A file that is called what is left of the other's name does not stand for it.
    const ref = await world.worked(
      `printf 'x\\0${token}' > ${NO_TEXT}; printf 'x\\0' > "$(printf 'a\\357\\277\\275')"`,
    );
    expect(await secretsIn(ref)).toContainEqual(['unscanned', 'a\ufffd', null]);
  });

  test('are not looked for in a binary file that is gone', async () => {
    const url = join(world.folder, 'source');
    const commit = 'git -c user.name=t -c user.email=t commit -qm 1';
    mkdirSync(url);
    execFileSync('sh', ['-ec', `git init -qb main; printf 'x\\0' > ${NO_TEXT}; git add .; ${commit}`], { cwd: url });
    const ref = await world.worked(`rm ${NO_TEXT}`, await world.workspaces.resolve({ url, ref: 'main' }));
    expect(await secretsIn(ref)).toEqual([]);
  });
});

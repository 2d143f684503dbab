import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { dockerfile } from './dockerfile.ts';

describe('the Dockerfile', () => {
  const stages = dockerfile();
  const last = stages.at(-1);

  const copied = stages[0]?.instructions.filter(({ name }) => name === 'COPY').map(({ words }) => words[0] ?? '') ?? [];

  test('lets npm see the manifests of all that the services need, and of nothing else', () => {
    const manifests = copied.filter((path) => path.endsWith('/package.json'));
    expect(manifests.sort()).toEqual(
      neededFolders()
        .map((folder) => `${folder}/package.json`)
        .sort(),
    );
  });

  test('compiles these folders and no others', () => {
    const folders = copied.filter((path) => !path.includes('.'));
    const needed = neededFolders().filter((folder) => !folder.startsWith('services/'));
    expect(folders.sort()).toEqual([...needed, 'services'].sort());
  });

  test('ends in an image that is nobody’s root, waits for what is left of commands, and has git', () => {
    const [user, entry, command] = ['USER', 'ENTRYPOINT', 'CMD'].map((each) =>
      last?.instructions.find(({ name }) => name === each),
    );
    expect([user?.text, entry?.words, command?.words[0]]).toEqual(['node', ['tini', '--', 'node'], '--eval']);
    const [run, ...more] = last?.instructions.filter(({ name }) => name === 'RUN') ?? [];
    expect([more, run?.text]).toEqual([[], expect.stringMatching(/ git .* tini .*\/var\/lib\/fixpoint\/executor/)]);
    expect(last?.instructions.findIndex(({ name }) => name === 'USER')).toBeGreaterThan(
      last?.instructions.indexOf(run ?? { name: '', flags: {}, words: [], text: '' }) ?? -1,
    );
  });

  test('keeps secrets and what was made elsewhere out of its context', () => {
    const ignored = readFileSync(new URL('../../../.dockerignore', import.meta.url), 'utf8').split('\n');
    for (const pattern of ['**/.env*', '**/.git', '**/node_modules', '**/dist', '**/.fixpoint']) {
      expect(ignored).toContain(pattern);
    }
  });
});

/** Folders of the services and the database job, with everything of ours below them. */
const neededFolders = (): string[] => {
  const root = new URL('../../../', import.meta.url);
  const dependenciesOf = (folder: string): string[] =>
    Object.keys(JSON.parse(readFileSync(new URL(`${folder}/package.json`, root), 'utf8')).dependencies ?? {});
  const folderOf = (name: string): string =>
    ['libs', 'services', 'deploy']
      .map((room) => `${room}/${name.replace('@fixpoint/', '')}`)
      .find((each) => existsSync(new URL(`${each}/package.json`, root))) ?? name;
  const services = ['orchestrator', 'validator', 'executor', 'decomposer', 'auditor'];
  const found = new Set([...services.map((name) => `services/${name}`), 'deploy/database']);
  for (const folder of found) {
    const ours = dependenciesOf(folder).filter((name) => name.startsWith('@fixpoint/'));
    for (const name of ours) found.add(folderOf(name));
  }
  return [...found];
};

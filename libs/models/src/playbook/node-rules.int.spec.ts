import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { shippedRules } from './shipped-rules.fixture.ts';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

const rules = shippedRules(process.env.PATH);

describe('a lock file of npm', () => {
  const manifest = (dependencies: object): string => JSON.stringify({ name: 'top', version: '1.0.0', dependencies });
  const locked = (): void => {
    rules.write({
      'a/package.json': '{"name":"a","version":"1.0.0"}',
      'b/package.json': '{"name":"b","version":"1.0.0"}',
      'package.json': manifest({ a: 'file:./a' }),
    });
    rules.sh('npm install --package-lock-only --no-audit --no-fund');
    rules.commit({ '.gitignore': 'node_modules\n.npm\n' });
  };

  test('that is behind package.json is brought in line, and the change can be seen', async () => {
    locked();
    rules.write({ 'package.json': manifest({ a: 'file:./a', b: 'file:./b' }) });
    expect(await rules.repair('npm ci --no-audit && node -p "require(\'b/package.json\').name"')).toBe(
      'npm-lock-behind',
    );
    expect(rules.sh('git status --porcelain')).toBe('M package-lock.json\n M package.json');
  });

  test('that does not exist, or of another folder, is not made up', async () => {
    rules.write({ 'package.json': manifest({}) });
    await rules.isLeftAlone('npm ci');
    locked();
    rules.write({ 'package.json': manifest({ a: 'file:./a', b: 'file:./b' }), 'sub/x': '' });
    await rules.isLeftAlone('cd sub && npm --prefix .. ci');
    await rules.isLeftAlone('cd sub && npm ci --prefix=..');
  });

  test('is right when a package is not what it says', async () => {
    rules.write({ 'a/package.json': '{"name":"a","version":"1.0.0"}', 'package.json': manifest({ a: 'file:a.tgz' }) });
    rules.sh('npm pack ./a --silent && mv a-1.0.0.tgz a.tgz && npm install --package-lock-only --no-audit');
    rules.write({ 'a/other.txt': 'not what was locked' });
    rules.sh('npm pack ./a --silent && mv a-1.0.0.tgz a.tgz && rm -rf .npm');
    await rules.isLeftAlone('npm ci --no-audit');
  });
});

describe('a tool of the project', () => {
  test('is found in its node_modules/.bin', async () => {
    mkdirSync(join(rules.folder(), 'node_modules/.bin'), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules/.bin/tsc'), join(rules.folder(), 'node_modules/.bin/tsc'));
    rules.write({ 'a.ts': 'export const a: number = 1;\n' });
    rules.onlyPrograms('sh', 'node', 'git');
    expect(await rules.repair('tsc --noEmit --ignoreConfig a.ts && git add a.ts && git commit -qm types')).toBe(
      'node-local-tool',
    );
    rules.write({ 'a.ts': "export const a: number = 'x';\n" });
    await rules.staysFailed('tsc --noEmit --ignoreConfig a.ts');
  });

  test('that the project does not have stays missing', async () => {
    rules.onlyPrograms('sh', 'node');
    await rules.staysFailed('eslint .');
    await rules.isLeftAlone('cargo test');
  });
});

describe('a failure that says something about the goal', () => {
  const packages = {
    'package.json': JSON.stringify({
      name: 'top',
      version: '1.0.0',
      scripts: { build: 'true', test: 'exit 1' },
      dependencies: { a: 'file:./a', b: 'file:./b' },
    }),
    'a/package.json': '{"name":"a","version":"1.0.0","peerDependencies":{"b":"^2.0.0"}}',
    'b/package.json': '{"name":"b","version":"1.0.0"}',
  };

  test.each([
    ['nothing to commit', 'git commit -m deps'],
    ['a branch that does not exist', 'git checkout missing'],
    ['a path that git does not know', 'git checkout -- missing.txt'],
    ['a folder where a clone should go', 'mkdir c && touch c/x && git clone -q . c'],
    ['a search that finds nothing', 'grep -rn TODO a.txt'],
    ['a comparison that differs', 'echo b | diff a.txt -'],
    ['a file that is missing', 'cat config/missing.json'],
    ['a target that is missing', 'node -e "process.exit(2)"'],
    ['a test that fails', 'npm test --silent'],
    ['a script that is missing', 'npm run biuld'],
    ['packages that do not fit together', 'npm install --strict-peer-deps'],
    [
      'a port that is taken',
      `node -e "const n=require('net');const s=n.createServer().listen(0,()=>n.createServer().listen(s.address().port))"`,
    ],
  ])('is left alone: %s', async (_, command) => {
    rules.commit({ ...packages, 'a.txt': 'a\n' });
    await rules.isLeftAlone(command);
  });
});

import { describe, expect, test } from '@jest/globals';
import { shippedRules } from './shipped-rules.fixture.ts';

const rules = shippedRules(process.env.PATH);

describe('a script that may not be executed', () => {
  test.each(['./tools/build.sh out', 'tools/build.sh out'])('gets its bit: %s', async (command) => {
    rules.commit({ 'tools/build.sh': '#!/bin/sh\necho built > "$1"\n' });
    expect(await rules.repair(`${command} && cat out`)).toBe('script-not-executable');
    expect(rules.sh('git diff --summary')).toBe('mode change 100644 => 100755 tools/build.sh');
  });

  test('is not a folder, and no other right that is missing', async () => {
    rules.write({ 'tools/x': '' });
    await rules.staysFailed('./tools');
    await rules.isLeftAlone('sh -c "echo ./tools/x: Permission denied >&2; exit 1"');
  });
});

describe('a script with line ends of Windows', () => {
  const lines = (...text: string[]): string => text.map((line) => `${line}\r\n`).join('');

  test.each([
    ['sh', 'sh tools/build.sh', lines('set -e', 'echo built > out')],
    ['bash', 'bash -e tools/build.sh', lines('', 'echo built > out')],
    ['bash, at an option', 'bash tools/build.sh', lines('set -e', 'echo built > out', '', 'exit 0')],
  ])('is run without them by %s', async (_, command, content) => {
    rules.write({ 'tools/build.sh': content });
    expect(await rules.repair(`${command} && cat out`)).toBe('script-with-cr');
  });

  test('finds its interpreter', async () => {
    rules.write({ 'tools/build.js': lines('#!/usr/bin/env node', 'console.log(1);') });
    rules.sh('chmod +x tools/build.js');
    expect(await rules.repair('./tools/build.js')).toBe('interpreter-with-cr');
    expect(rules.sh('git hash-object tools/build.js')).toBe(
      rules.sh("printf '#!/usr/bin/env node\\nconsole.log(1);\\n' | git hash-object --stdin"),
    );
  });

  test('of which only the output has them is not touched', async () => {
    rules.write({ 'tools/build.sh': "printf 'tools/build.sh: 3: wrong\\r\\n' >&2; exit 1\n" });
    await rules.isLeftAlone('sh tools/build.sh');
  });
});

describe('sed -i as on macOS', () => {
  test.each([`sed -i '' 's/1.0/2.0/' v.txt`, `sed -E -i "" 's/(1).0/2.0/' v.txt`])(
    'loses its suffix: %s',
    async (command) => {
      rules.write({ 'v.txt': '1.0\n' });
      expect(await rules.repair(`${command} && grep 2.0 v.txt`)).toBe('sed-in-place-suffix');
    },
  );

  test('is left alone where it has changed a file already, and where a file is missing', async () => {
    rules.write({ 'v.txt': 'a\n' });
    await rules.isLeftAlone(`sed -i '' -e 's/a/aa/' v.txt`);
    expect(rules.sh('cat v.txt')).toBe('aa');
    await rules.isLeftAlone(`sed -i 's/a/b/' missing.txt`);
    await rules.staysFailed(`sed -i '' 's/a/b/' missing.txt`);
  });
});

describe('a program by another name', () => {
  test('python is python3', async () => {
    rules.onlyPrograms('sh', 'python3');
    expect(await rules.repair('echo python && X=1 python -c "print(\'python x\')"')).toBe('python-is-python3');
    await rules.staysFailed('python -c "raise SystemExit(3)"');
    await rules.isLeftAlone('python2 -c "print(1)"');
  });

  test('sudo is left out, and gives no rights', async () => {
    rules.onlyPrograms('sh', 'mkdir', 'ls');
    expect(await rules.repair('echo "sudo x" && sudo mkdir made && ls -d made')).toBe('no-sudo');
    await rules.staysFailed('sudo ls /no/such/folder');
    await rules.isLeftAlone('sudo -u nobody ls');
  });
});

describe('a folder', () => {
  test.each([
    ['that is there', 'mkdir -m 755 dist && touch dist/x'],
    ['whose parent is not', 'mkdir dist/deep/er && touch dist/deep/er/x'],
  ])('%s is made', async (_, command) => {
    rules.write({ 'dist/old': '' });
    expect(await rules.repair(command)).toBe('mkdir-parents');
  });

  test('is not made in place of a file, and a lock stays a lock', async () => {
    rules.write({ file: '', 'build.lock/x': '' });
    await rules.staysFailed('mkdir file');
    await rules.isLeftAlone('mkdir build.lock');
    await rules.isLeftAlone('mkdir -p file/below');
  });

  test('for the output of a command is made', async () => {
    rules.write({ 'a.txt': 'a' });
    expect(await rules.repair('cat a.txt > out/deep/report.txt && cat out/deep/report.txt')).toBe(
      'output-folder-missing',
    );
  });

  test('for its input, or outside, is not', async () => {
    await rules.isLeftAlone('cat < out/report.txt');
    await rules.isLeftAlone('echo x > ../nowhere-at-all/report.txt');
    await rules.isLeftAlone('echo x > /nowhere-at-all/report.txt');
  });
});

describe('a link that exists', () => {
  test('and is the one that was asked for is fine', async () => {
    rules.write({ 'v2.txt': 'two' });
    rules.sh('ln -s v2.txt current');
    expect(await rules.repair("ln -s v2.txt 'current' && cat current")).toBe('link-exists');
  });

  test('and leads elsewhere, or is no link, is a failure', async () => {
    rules.write({ file: 'kept' });
    rules.sh('ln -s v1 current');
    await rules.staysFailed('ln -s v2 current');
    await rules.staysFailed('ln -s v2 file');
    expect([rules.sh('readlink current'), rules.sh('cat file')]).toEqual(['v1', 'kept']);
  });
});

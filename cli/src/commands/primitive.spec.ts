import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { primitives } from '@fixpoint/execution/primitives/primitives';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { commandLine, type Ran, type Surroundings } from '../command-line.fixture.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fixpoint-cli-primitive-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const primitive = (args: readonly string[], surroundings: Surroundings = {}): Promise<Ran> =>
  commandLine(['primitive', ...args], { cwd: folder, env: { PATH: process.env.PATH ?? '' }, ...surroundings });

const answer = ({ stdout }: Ran): unknown => JSON.parse(stdout);

describe('primitives on the command line', () => {
  test('are listed', async () => {
    const { code, stdout } = await primitive([]);
    expect(code).toBe(0);
    for (const name of primitives.keys()) expect(stdout).toMatch(new RegExp(`^${name} +(step|check) +\\S`, 'm'));
    expect(answer(await primitive(['--json']))).toHaveLength(primitives.size);
  });

  test('say what they take', async () => {
    const { code, stdout } = await primitive(['json-set', '--describe']);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/Afterwards json-matches holds[\s\S]*^pointer +string +needed/m),
    ]);
    expect(answer(await primitive(['json-set', '--describe', '--json']))).toMatchObject({
      name: 'json-set',
      kind: 'step',
      check: 'json-matches',
      parameters: { required: ['path', 'pointer', 'value'] },
    });
  });

  test('are checked without a change, done, and checked again', async () => {
    writeFileSync(join(folder, 'a.json'), '{"b":1}');
    const step = ['json-normalise', '--with', 'path: a.json', '--json'];
    const unmet = await primitive([...step, '--check']);
    expect([unmet.code, answer(unmet)]).toMatchObject([1, { primitive: 'json-normalise', outcome: 'unmet' }]);
    expect(readFileSync(join(folder, 'a.json'), 'utf8')).toBe('{"b":1}');
    const done = await primitive(step);
    expect([done.code, answer(done)]).toMatchObject([0, { outcome: 'met', output: { changed: true } }]);
    const met = await primitive([...step, '--check']);
    expect([met.code, answer(met)]).toMatchObject([0, { outcome: 'met' }]);
    expect(readFileSync(join(folder, 'a.json'), 'utf8')).toBe('{\n  "b": 1\n}\n');
  });

  test('take their parameters from a file or from standard input, and work elsewhere', async () => {
    writeFileSync(join(folder, 'with.json'), '{"path":"f","line":"a"}');
    const one = await primitive(['line-in-file', '--with', '@with.json']);
    expect(one).toEqual({ code: 0, stdout: 'f has the line\n', stderr: '' });
    const two = await primitive(['line-in-file', '--with', '-', '--in', folder], {
      cwd: '/',
      stdin: 'path: f\nline: b\n',
    });
    expect([two.code, readFileSync(join(folder, 'f'), 'utf8')]).toEqual([0, 'a\nb\n']);
  });

  test('reach a repository', async () => {
    const git = (...args: string[]): string =>
      execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' });
    git('init', '-q');
    writeFileSync(join(folder, 'a.txt'), 'a');
    expect((await primitive(['git-clean'])).code).toBe(1);
    expect((await primitive(['commit', '--with', 'message: "Add a"'])).code).toBe(0);
    expect([git('log', '--format=%s'), (await primitive(['git-clean'])).code]).toEqual(['Add a\n', 0]);
  });

  test('that say no end with 1 and why', async () => {
    expect(await primitive(['json-normalise', '--with', 'path: none.json'])).toEqual({
      code: 1,
      stdout: 'none.json does not exist\n',
      stderr: '',
    });
  });

  test.each([
    ['an unknown one', ['fly'], 'there is no primitive fly'],
    ['a missing parameter', ['json-normalise'], 'with.path'],
    ['a path that leaves the folder', ['json-normalise', '--with', 'path: ../x'], 'stays in the workspace'],
    ['parameters that nobody can read', ['counter', '--with', '{'], '--with is no YAML'],
    ['a file of parameters that is missing', ['counter', '--with', '@none.yaml'], 'there is no such file'],
    ['a folder that is missing', ['counter', '--with', 'to: 1', '--in', 'none'], 'none is no folder'],
  ])('end with 2 for %s', async (_, args, why) => {
    const { code, stdout, stderr } = await primitive(args);
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(why)]);
  });
});

test('lint knows the parameters of primitives', async () => {
  const task = (recipe: string): string => `kind: task/v1\nname: a\ngoal: It is made\nrecipe: ${recipe}\n`;
  const lint = async (recipe: string): Promise<Ran> => commandLine(['lint', '-'], { stdin: task(recipe) });
  const good = await lint('{ primitive: json-set, with: { path: a.json, pointer: /a, value: [1, { b: null }] } }');
  expect([good.code, good.stdout]).toEqual([0, expect.not.stringContaining('error')]);
  const bad = await lint('{ primitive: json-set, with: { path: ../a.json, pointer: a } }');
  expect(bad.code).toBe(2);
  expect(bad.stdout).toMatch(/-:4:22: error FX013: json-set: with\.path: stays in the workspace/);
});

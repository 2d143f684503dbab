import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { modelAccount } from '../model-account.ts';
import type { FailedCommand } from '../models.ts';
import { failedCommand } from './failing-repository.fixture.ts';
import { loadPlaybook, PlaybookInvalid, parsePlaybook } from './load-playbook.ts';
import { playbookModel } from './playbook.ts';
import { playbookPage } from './playbook-page.ts';

const { signal } = new AbortController();
const account = modelAccount({ money_micros: 0, tokens: 0 });

const failed = (command: string, stderr: string, changed: Partial<FailedCommand> = {}): FailedCommand => ({
  ...failedCommand(command, { exitCode: 1, stdout: '', stderr }),
  ...changed,
});

const answer = (rules: string, command: FailedCommand) =>
  playbookModel(parsePlaybook(`kind: playbook/v1\nrules:\n${rules}`, 'test.yaml')).propose(command, account, signal);

const RULE = `  - id: old-name
    reasoning: It has a new name.
    when: { stderr: "no command (?<name>\\\\S+)" }
    correct: [{ replace: "old", with: "new" }]
`;

describe('a rule', () => {
  test('corrects what it recognises', async () => {
    expect(await answer(RULE, failed('old x; old y', 'no command old'))).toEqual({
      kind: 'proposed',
      corrected: 'new x; new y',
      rule: 'old-name',
      reasoning: 'It has a new name.',
    });
  });

  test('sees both ends of the output', async () => {
    const stderr = { head: 'a'.repeat(4096), tail: 'no command old' };
    expect(await answer(RULE, failed('old', '', { stderr }))).toMatchObject({ kind: 'proposed' });
  });

  test.each([
    ['the output says something else', failed('old', 'other')],
    ['it would change nothing', failed('other', 'no command old')],
    ['its correction was run before', failed('old', 'no command old', { previous: ['old', 'new'] })],
    ['the command was killed', failed('old', 'no command old', { exitCode: null, signal: 'SIGKILL' })],
    ['the command ran out of time', failed('old', 'no command old', { timedOut: true })],
    ['the command is too long', failed(`old ${'x'.repeat(9000)}`, 'no command old')],
  ])('is not used when %s', async (_, command) => {
    expect(await answer(RULE, command)).toEqual({ kind: 'declined', reason: expect.any(String) });
  });

  test('whose correction was run before leaves the word to the next one', async () => {
    const next = RULE.replace('old-name', 'second').replace('with: "new"', 'with: "newer"');
    const command = failed('old', 'no command old', { previous: ['old', 'new'] });
    expect(await answer(RULE + next, command)).toMatchObject({ rule: 'second', corrected: 'newer' });
  });

  test('only sees its own languages', async () => {
    const rule = RULE.replace('when: {', 'when: { language: [node, python3],');
    expect(await answer(rule, failed('old', 'no command old'))).toMatchObject({ kind: 'declined' });
    expect(await answer(rule, failed('old', 'no command old', { language: 'node' }))).toMatchObject({
      kind: 'proposed',
    });
  });

  test('never splices output into a command that is more than a plain word', async () => {
    const rule = RULE.replace('with: "new"', 'with: "{{name}}"');
    expect(await answer(rule, failed('old', 'no command a/b-c'))).toMatchObject({ corrected: 'a/b-c' });
    expect(await answer(rule, failed('old', 'no command $(reboot)'))).toMatchObject({ kind: 'declined' });
  });

  test('that backtracks without end is passed over and named', async () => {
    const slow = '  - { id: slow, reasoning: x, when: { stderr: "(a+)+$" }, correct: [{ replace: a, with: b }] }\n';
    const command = failed('old', `${'a'.repeat(60)}!\nno command old`);
    expect(await answer(slow + RULE, command)).toMatchObject({ kind: 'proposed', rule: 'old-name' });
    expect(await answer(slow, command)).toMatchObject({ kind: 'declined', reason: expect.stringContaining('slow') });
  });
});

describe('words that are taken out of a command', () => {
  const rule =
    '  - { id: drop, reasoning: x, when: { stderr: no }, correct: [{ drop_words: { of: stderr, match: "no (?<word>.+)" } }] }\n';

  test.each([
    ['add a b', 'b', 'add a'],
    ['add b a', 'b', 'add a'],
    ["add 'b' a; c", 'b', 'add a; c'],
    ['add "b c" a', 'b c', 'add a'],
    ['add ./b/ a', 'b', 'add a'],
    ['add b&& c', 'b', 'add&& c'],
  ])('%j without %j', async (command, word, corrected) => {
    expect(await answer(rule, failed(command, `no ${word}`))).toMatchObject({ corrected });
  });

  test.each([
    ['add a/b', 'b'],
    ['add bc', 'b'],
    ['add *.b', 'x.b'],
  ])('%j has no word %j', async (command, word) => {
    expect(await answer(rule, failed(command, `no ${word}`))).toMatchObject({ kind: 'declined' });
  });
});

describe('single commands that are rewritten', () => {
  const rule = (rewrite: string, as: string): string =>
    `  - { id: anew, reasoning: x, when: { stderr: "no (?<name>\\\\S+)" }, correct: [{ rewrite: "${rewrite}", as: "${as}" }] }\n`;

  test.each([
    ['git push && echo git push', 'git push -u && echo git push'],
    ['echo "git push"; X=1 git push > log', 'echo "git push"; X=1 git push -u > log'],
    ['if git push; then (git push); fi', 'if git push -u; then (git push -u); fi'],
  ])('%s', async (command, corrected) => {
    expect(await answer(rule('^git push$', '$& -u'), failed(command, 'no x'))).toMatchObject({ corrected });
  });

  test.each([
    ['only stand in quotes', failed('echo "git push"', 'no x')],
    ['stand in a text that nobody can read', failed('git push; echo "', 'no x')],
    ['are no shell', failed('git push', 'no x', { language: 'python3' })],
  ])('are not when they %s', async (_, command) => {
    expect(await answer(rule('^git push$', '$& -u'), command)).toMatchObject({ kind: 'declined' });
  });

  test('may become several, but not behind an assignment', async () => {
    const group = rule('^git push$', '{ true && $&; }');
    expect(await answer(group, failed('git push || false', 'no x'))).toMatchObject({
      corrected: '{ true && git push; } || false',
    });
    expect(await answer(group, failed('X=1 git push', 'no x'))).toMatchObject({ kind: 'declined' });
  });

  test('may be named by the output, literally', async () => {
    const named = rule('^{{name}}$', 'sh {{name}}');
    expect(await answer(named, failed('./a.sh; ./axsh', 'no ./a.sh'))).toMatchObject({
      corrected: 'sh ./a.sh; ./axsh',
    });
    expect(await answer(named, failed('$(x)', 'no $(x)'))).toMatchObject({ kind: 'declined' });
  });
});

describe('the shipped rules', () => {
  test('stand on their page; `npm run generate` writes it', () => {
    const page = readFileSync(new URL('../../../../docs/playbook.md', import.meta.url), 'utf8');
    expect(page).toBe(playbookPage());
  });

  test('never take away what a step checks, nor overrule what refused it', () => {
    const weaker =
      /\|\|\s*(?:true|:|exit 0)|;\s*(?:true|:|exit 0)\b|--force|--no-verify|--allow-|--legacy|--if-present|--ignore-(?!scripts)|--skip|--passWithNoTests|--no-strict|--exit-zero|\bset \+e|2>\s*\/dev\/null|chmod\s+(?:777|a\+)/;
    const corrections = loadPlaybook().map(({ id, correct }) => ({ id, text: JSON.stringify(correct) }));
    expect(corrections.length).toBeGreaterThan(20);
    expect(corrections.filter(({ text }) => weaker.test(text))).toEqual([]);
  });

  test('each say why, and what they have seen of the output', () => {
    for (const { id, reasoning, when } of loadPlaybook()) {
      expect([id, reasoning.length > 40, (when.stderr ?? when.stdout) !== undefined]).toEqual([id, true, true]);
    }
  });
});

describe('playbook files', () => {
  test.each([
    ['a bad pattern', RULE.replace('no command', '(no command'), 'test.yaml:5:21'],
    ['an unknown step', RULE.replace('replace:', 'replaced:'), 'test.yaml:6:15'],
    ['no YAML', '  - {', 'test.yaml:3:6'],
  ])('%s is refused with its place', (_, rules, place) => {
    const parse = () => parsePlaybook(`kind: playbook/v1\nrules:\n${rules}`, 'test.yaml');
    expect(parse).toThrow(PlaybookInvalid);
    expect(parse).toThrow(place);
  });

  test('of the user are tried before the shipped ones', () => {
    const shipped = loadPlaybook().map(({ id }) => id);
    const own = new URL('own-rules.yaml', import.meta.url).pathname;
    expect(loadPlaybook([own]).map(({ id }) => id)).toEqual(['own-rule', ...shipped]);
    expect(() => loadPlaybook([own, own])).toThrow('own-rule');
  });
});

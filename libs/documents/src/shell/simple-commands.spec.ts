import { describe, expect, test } from '@jest/globals';
import { rewriteCommands, type SimpleCommand, simpleCommands } from './simple-commands.ts';

const texts = (text: string): string[] => simpleCommands(text).map((command) => command.text);

describe('the commands of a shell text', () => {
  test.each([
    ['a b && c; d | e & f', ['a b', 'c', 'd', 'e', 'f']],
    ['X=1 a b > out 2>&1', ['a b']],
    ['a > out b', ['a']],
    ['if a; then { b; (c d); }; fi', ['a', 'b', 'c d']],
    ['echo "b; c" \'d && e\'', ['echo "b; c" \'d && e\'']],
    ['echo "$(git tag)"', ['echo "$(git tag)"', 'git tag']],
    ['cat <<E\ngit push\nE', ['cat']],
    ['# git push\na', ['a']],
    ['git commit -m "one\ntwo"', ['git commit -m "one\ntwo"']],
    ['X=1', []],
    ['if a; then', []],
    ['', []],
  ])('%j has %j', (text, commands) => {
    expect(texts(text)).toEqual(commands);
  });
});

test('an assignment or a redirection before a command is seen', () => {
  const prefixed = simpleCommands('a; X=1 b; >f c').map(({ hasPrefix }) => hasPrefix);
  expect(prefixed).toEqual([false, true, true]);
});

describe('commands that are written anew', () => {
  const upper = ({ text }: SimpleCommand): string => (text.startsWith('a') ? text.toUpperCase() : text);

  test.each([
    ['a x && b "a x" | a y > a', 'A X && b "a x" | A Y > a'],
    ['a "$(a b)"; a', 'A "$(A B)"; A'],
    ['b "$(a c)"', 'b "$(A C)"'],
    ['b', 'b'],
    ['a "', 'a "'],
  ])('%j becomes %j', (text, expected) => {
    expect(rewriteCommands(text, upper)).toBe(expected);
  });
});

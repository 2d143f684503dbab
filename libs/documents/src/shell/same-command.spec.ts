import { describe, expect, test } from '@jest/globals';
import { sameCommand } from './same-command.ts';

describe('two shell texts', () => {
  test.each([
    ['npm test', '  npm   test # the check'],
    ['npm test', 'npm test;'],
    ['npm test', "npm 'test'"],
    ['npm test', 'n"p"m te\\st'],
    ['npm test', "sh -c 'npm test'"],
    ['npm test', '/bin/bash -ec "npm test"'],
    ['npm test', '( npm test )'],
    ['npm test', '{ npm test; }'],
    ['npm test', 'eval "npm test"'],
    ['npm test', 'timeout -k 1 30 nice npm test'],
    ['npm test', 'command npm test'],
    ['npm test', 'true && npm test'.replace('true && ', ': ; ')],
    ['a && b', 'a &&\n  b'],
    ['a\nb', 'a; b'],
    ['test -f "$X"', 'test -f ${X}'],
    ['echo $(a   b)', 'echo `a b`'],
    ['! grep x y', '!   grep x "y"'],
    ['a > out', 'a >out'],
    ['a && ', 'a && '],
  ])('are the same: %s | %s', (a, b) => {
    expect(sameCommand(a, b)).toBe(true);
    expect(sameCommand(b, a)).toBe(true);
  });

  test.each([
    ['npm test', 'npm test --all'],
    ['npm test', '! npm test'],
    ['npm test', 'npm test | cat'],
    ['npm test', 'npm test > /dev/null'],
    ['npm test', 'npm test || true'],
    ['npm test', 'npm test; true'],
    ['npm test', 'npm test &'],
    ['npm test', 'CI=1 npm test'],
    ['npm test', 'env CI=1 npm test'],
    ['npm test', 'sudo npm test'],
    ['a && b', 'a || b'],
    ['a && b', 'b && a'],
    ['rm *', "rm '*'"],
    ['echo $X', "echo '$X'"],
    ['echo $X', 'echo $Y'],
    ['echo ${X:-a}', 'echo ${X:-b}'],
    ["sh -c 'a'", "sh -c 'a' name argument"],
    ['cat <<E\nx\nE', 'cat <<E\ny\nE'],
    ['a && ', 'a || '],
  ])('are different: %s | %s', (a, b) => {
    expect(sameCommand(a, b)).toBe(false);
    expect(sameCommand(b, a)).toBe(false);
  });
});

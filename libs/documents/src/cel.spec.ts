import { describe, expect, test } from '@jest/globals';
import { celConstant, celProblem } from './cel.ts';

describe('expressions', () => {
  test.each([
    ['check', 'output.n > 1 && exit_code == 0 && stdout.contains("ok")'],
    ['check', 'output'],
    ['command_rule', 'program == "curl" || network || "x" in args || paths.exists(p, p.startsWith("/etc"))'],
    ['governance_rule', 'task.labels.team == "web" && node.kind == "gate"'],
  ] as const)('in a %s may say %s', (place, text) => {
    expect(celProblem(place, text)).toBeNull();
  });

  test.each([
    ['check', 'program == "x"', 'program'],
    ['check', 'exit_code == "0"', 'int == string'],
    ['check', 'stdout', 'string'],
    ['command_rule', 'args.size()', 'int'],
    ['check', 'output.', 'EOF'],
  ] as const)('in a %s may not say %s', (place, text, problem) => {
    expect(celProblem(place, text)).toContain(problem);
  });

  test.each([
    ['true', true],
    ['1 + 1 == 2', true],
    ['output.x || true', true],
    ['false && output.x', false],
    ['output.x == 1', null],
    ['size(output) >= 0', null],
    ['"text"', null],
    ['(1 + 2) * 3 == 9 && size("ab") == 2', true],
    ['output.all(x, x.matches("a")) || true', true],
    ['false && output.x || output.exists(x, x == 1) && false', false],
    ['stdout.matches("a") || false', null],
  ])('%s is always %s', (text, value) => {
    expect(celConstant(text)).toBe(value);
  });

  const list = `[${[...Array(10).keys()].join(', ')}]`;
  const loops = [...Array(12).keys()].reduce((inner, depth) => `${list}.all(x${depth}, ${inner})`, 'true');
  const pattern = `"${'a'.repeat(60)}!".matches("^(a+)+$")`;

  test.each([
    ['loops in each other', loops],
    ['a pattern that tries for ever', pattern],
    ['one as a plain call', pattern.replace(/(".*")\.matches\(/, 'matches($1, ')],
    ['one beside what is known', `1 < 2 && (${pattern})`],
    ['one below another operator', `(${pattern}) == true`],
    ['one in a list', `[${pattern}] == [true]`],
    ['one in a map', `{"a": ${pattern}} == {"a": true}`],
    ['one in a branch', `1 < 2 ? ${pattern} : true`],
    ['one that is denied', `!${pattern}`],
    ['one as an index', `[1, 2][${pattern} ? 0 : 1] == 1`],
  ])('never try out %s to find whether they are constant', (_name, text) => {
    expect(celConstant(text)).toBeNull();
  });
});

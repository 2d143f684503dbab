import { describe, expect, test } from '@jest/globals';
import { findingsIn } from './judge-command.ts';

describe('findings that a command prints', () => {
  test('are read with everything optional', () => {
    const printed = JSON.stringify({
      findings: [
        { rule: 'no-var', path: 'src/a.js', line: 3, criterion: null, message: 'use let' },
        { message: 'only this' },
        {},
      ],
    });
    expect(findingsIn(printed, '/copy')).toEqual([
      { rule: 'no-var', path: 'src/a.js', line: 3, criterion: null, message: 'use let' },
      { rule: 'finding', path: null, line: null, criterion: null, message: 'only this' },
      { rule: 'finding', path: null, line: null, criterion: null, message: '' },
    ]);
  });

  test('name paths of the workspace, wherever the copy was', () => {
    const findings = [{ path: '/copy/1/src/a.js' }, { path: './src/a.js' }, { path: 'src/a.js' }, { path: '/etc/x' }];
    expect(findingsIn(JSON.stringify({ findings }), '/copy/1').map(({ path }) => path)).toEqual([
      'src/a.js',
      'src/a.js',
      'src/a.js',
      '/etc/x',
    ]);
  });

  test.each([
    ['null'],
    ['[]'],
    ['"\\ud800"'],
    ['1e400'],
    ['{"findings": null}'],
    ['no JSON'],
    [''],
    ['{"findings": [null, 1, "x"]}'],
  ])('E2: are none in %s', (printed) => {
    expect(findingsIn(printed, '/copy')).toEqual([]);
  });

  test('E2: with values that cannot be stored lose those values', () => {
    const [finding] = findingsIn(
      '{"findings": [{"rule": "r", "line": 1e400, "path": 7, "message": "\\u0000"}]}',
      '/copy',
    );
    expect(finding).toEqual({ rule: 'r', path: null, line: null, criterion: null, message: '\0' });
  });
});

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseProtocol } from './parse-protocol.ts';
import { parseTask } from './parse-task.ts';
import { printProtocol, printTask } from './print-task.ts';
import { taskDocuments } from './task-document.fixture.ts';
import type { TaskDocument } from './task-document.ts';

describe('printing', () => {
  test('I-T20 and parsing again is the identity, and so is printing again', () => {
    fc.assert(
      fc.property(taskDocuments, (written) => {
        const printed = printTask(written);
        const { document: read, diagnostics } = parseTask(printed);
        expect(diagnostics).toEqual([]);
        expect(read).toEqual(written);
        expect(printTask(read ?? written)).toBe(printed);
      }),
      { numRuns: 200 },
    );
  });

  test.each(['  \n', ' a\nb', 'a\n \nb', 'a\n\n', '\n', 'a\nb', 'a\nb\n', '#!/bin/sh\nset -e\n\nmake\n'])(
    'the script %j is kept to the last space',
    (script) => {
      const written: TaskDocument = { kind: 'task/v1', name: 'x', recipe: { script } };
      expect(parseTask(printTask(written)).document).toEqual(written);
    },
  );

  test('a script stays readable', () => {
    const written: TaskDocument = { kind: 'task/v1', name: 'x', recipe: { script: 'set -e\n\nmake\n' } };
    expect(printTask(written)).toContain('  script: |\n    set -e\n\n    make\n');
  });

  test('keys stand in one order, whatever order they came in', () => {
    const task = { recipe: { command: 'make' }, goal: 'It is built', name: 'x', kind: 'task/v1' } as const;
    expect(printTask(task)).toBe('kind: task/v1\nname: x\ngoal: It is built\nrecipe:\n  command: make\n');
  });

  test('data keeps the order it came in', () => {
    const task = {
      kind: 'task/v1',
      name: 'x',
      labels: { policy: 'a', kind: 'b', alpha: 'c' },
      recipe: { command: 'x' },
    };
    expect(printTask(task as TaskDocument)).toContain('labels:\n  policy: a\n  kind: b\n  alpha: c\n');
  });

  test('a protocol is printed and read again', () => {
    const written = 'kind: protocol/v1\nname: p\nproject: shop\nmodes: { build: { bounds: { deadline: 2h } } }\n';
    const { document: read } = parseProtocol(written, {
      knownPrimitives: { names: [], problems: () => [] },
      deniedBy: () => null,
    });
    if (read === null) throw new Error('not read');
    expect(
      parseProtocol(printProtocol(read), { knownPrimitives: { names: [], problems: () => [] }, deniedBy: () => null })
        .document,
    ).toEqual(read);
  });
});

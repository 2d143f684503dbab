import { AssertionError } from 'node:assert';
import { Refused } from '@fixpoint/decider/refused';
import { describe, expect, test } from '@jest/globals';
import { errorAnswer, schemaProblem } from './error-answer.ts';
import { tooManyRequests } from './http-problem.ts';

describe('the answer to an error', () => {
  test.each([
    ['a refusal', new Refused('task_ended', 'task 7'), 409, 'task_ended'],
    ['a problem of HTTP', tooManyRequests('queue_full', '', 3), 429, 'queue_full'],
    ['what the web framework refuses', Object.assign(new Error('big'), { statusCode: 413 }), 413, 'payload_too_large'],
    ['a lost connection', new Error('connect ECONNREFUSED 127.0.0.1:5432'), 503, 'unavailable'],
    ['a failed assertion', new AssertionError({ message: 'never' }), 500, 'internal'],
    ['a type error', new TypeError('x is not a function'), 500, 'internal'],
    ['a thrown text', 'oops', 500, 'internal'],
  ])('to %s', (_what, error, status, code) => {
    expect(errorAnswer(error)).toMatchObject({ status, body: { code } });
  });

  test('never shows what a fault or a bug said', () => {
    const shown = [new Error('password=hunter2'), new TypeError('hunter2')].map((error) => errorAnswer(error).body);
    expect(JSON.stringify(shown)).not.toContain('hunter2');
  });

  test('to a schema points at the place', () => {
    const problem = schemaProblem([{ message: 'expected text', path: ['tasks', 0, { key: 'a/b' }] }]);
    expect(problem.body).toMatchObject({
      code: 'request_invalid',
      diagnostics: [{ path: '/tasks/0/a~1b', message: 'expected text', line: null }],
    });
  });
});

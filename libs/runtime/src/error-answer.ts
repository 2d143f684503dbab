import { AssertionError } from 'node:assert';
import { STATUS_CODES } from 'node:http';
import type { Diagnostic } from '@fixpoint/contracts/rest/errors';
import { Refused } from '@fixpoint/decider/refused';
import { badInput, HttpProblem } from './http-problem.ts';

const BUGS = [AssertionError, TypeError, RangeError, ReferenceError, SyntaxError, EvalError];

/** True for what is our mistake; every other unknown error is the world's (a lost connection, a time-out). */
const isBug = (error: unknown): boolean => !(error instanceof Error) || BUGS.some((kind) => error instanceof kind);

const statusOf = (error: unknown): number | null => {
  if (typeof error !== 'object' || error === null) return null;
  // Nest says getStatus(), Fastify says statusCode.
  if ('getStatus' in error && typeof error.getStatus === 'function') return Number(error.getStatus());
  return 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : null;
};

const codeOf = (status: number): string => (STATUS_CODES[status] ?? 'error').toLowerCase().replaceAll(/[^a-z]+/g, '_');

/**
 * What a thrown value means for the one who asked: a refusal is 409, a {@link HttpProblem} says itself, errors of the
 * web framework keep their status, a fault of the world is 503 (ask again), a bug is 500 without details.
 */
export const errorAnswer = (error: unknown): HttpProblem => {
  if (error instanceof HttpProblem) return error;
  if (error instanceof Refused)
    return new HttpProblem(409, { code: error.code, detail: error.detail, diagnostics: [] });

  const status = statusOf(error);
  if (status !== null && status >= 400 && status < 500) {
    return new HttpProblem(status, {
      code: codeOf(status),
      detail: error instanceof Error ? error.message : '',
      diagnostics: [],
    });
  }
  if (isBug(error)) return new HttpProblem(500, { code: 'internal', detail: 'a bug; the log has it', diagnostics: [] });
  const detail = 'the store or the bus did not answer; nothing is known of the outcome';
  return new HttpProblem(503, { code: 'unavailable', detail, diagnostics: [] }, { 'retry-after': '1' });
};

interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

const pointer = (path: SchemaIssue['path']): string =>
  (path ?? [])
    .map(
      (step) =>
        `/${String(typeof step === 'object' ? step.key : step)
          .replaceAll('~', '~0')
          .replaceAll('/', '~1')}`,
    )
    .join('');

const diagnostic = (issue: SchemaIssue): Diagnostic => ({
  code: 'schema',
  severity: 'error',
  message: issue.message,
  hint: '',
  path: pointer(issue.path),
  line: null,
  column: null,
});

/** The answer to a body, query or parameter that its schema refuses. */
export const schemaProblem = (issues: readonly SchemaIssue[]): HttpProblem =>
  badInput(
    'request_invalid',
    issues.map((issue) => `${pointer(issue.path)}: ${issue.message}`).join('; '),
    issues.map(diagnostic),
  );

import type { HttpProblem } from './http-problem.ts';
import { badInput } from './http-problem.ts';

const positioned = (
  code: string,
  message: string,
  { line, column, hint }: { line: number; column: number; hint: string },
): HttpProblem => badInput(code, message, [{ code, severity: 'error', message, hint, path: '', line, column }]);

const positionIn = (text: string, offset: number): { line: number; column: number } => {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
};

const syntaxProblem = (text: string, error: SyntaxError): HttpProblem => {
  const offset = Number(/ at position (\d+)/.exec(error.message)?.[1] ?? text.length);
  const hint = 'send application/json; quote a YAML document as a JSON string';
  return positioned('body_not_json', error.message, { ...positionIn(text, offset), hint });
};

/** What `JSON.parse` would silently change or let through; only looked for where a cheap search finds a candidate. */
const SUSPECT = /\d{16}|[eE]\+?\d{2}|__proto__|\\u00/;

const unsafeInteger = (source: string | undefined): boolean =>
  source !== undefined && /^-?\d+$/.test(source) && !Number.isSafeInteger(Number(source));

const refuseLossy = (key: string, value: unknown, context?: { source?: string }): unknown => {
  if (typeof value === 'number' && (unsafeInteger(context?.source) || !Number.isFinite(value))) {
    throw badInput('integer_beyond_2_53', `${key}: ${context?.source} cannot be kept exactly; send it as a string`);
  }
  if (key === '__proto__') throw badInput('key_not_allowed', 'the key __proto__ is not allowed');
  return value;
};

/**
 * A request body as JSON. Empty text is no body (undefined).
 * @throws {HttpProblem} 400: `body_not_json` with line and column, `integer_beyond_2_53`, `key_not_allowed`.
 */
export const parseJsonBody = (text: string): unknown => {
  if (text.trim() === '') return undefined;
  try {
    return SUSPECT.test(text) ? JSON.parse(text, refuseLossy) : JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw syntaxProblem(text, error);
    throw error;
  }
};

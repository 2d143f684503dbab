import type { z } from 'zod';
import { ApiError, apiErrorOf, UnexpectedAnswer, Unreachable } from './api-error.ts';

export interface Connection {
  /** `http://127.0.0.1:4101`, with or without a path before `/v1`. */
  readonly baseUrl: string;
  /** Null where the API asks for none. */
  readonly apiKey: string | null;
  /** Longest wait for an answer, ms. */
  readonly timeoutMs: number;
}

export interface Call {
  readonly method: 'GET' | 'POST';
  /** From `v1/` on. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

const urlOf = ({ baseUrl }: Connection, { path, query = {} }: Call): URL => {
  const url = new URL(path, baseUrl.endsWith('/') ? baseUrl : `${baseUrl}/`);
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value));
  return url;
};

/**
 * Sends a call and returns the answer once its head is there; the body is the caller's to read, in whatever time it takes.
 * @throws {ApiError} for 400 and more. @throws {Unreachable}
 */
export const send = async (connection: Connection, call: Call): Promise<Response> => {
  const url = urlOf(connection, call);
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new DOMException('late', 'TimeoutError')), connection.timeoutMs);
  const signal = call.signal ? AbortSignal.any([late.signal, call.signal]) : late.signal;
  try {
    const answer = await fetch(url, {
      method: call.method,
      headers: headersOf(connection, call),
      signal,
      ...bodyOf(call),
    });
    if (answer.status >= 400) throw await apiErrorOf(answer);
    return answer;
  } catch (error) {
    if (error instanceof ApiError) throw error;
    if (isTimeout(error))
      throw new Unreachable(`${url.origin}: no answer within ${connection.timeoutMs} ms`, { cause: error });
    if (call.signal?.aborted) throw error;
    throw new Unreachable(`${url.origin} cannot be reached: ${reasonOf(error)}`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
};

const headersOf = ({ apiKey }: Connection, { body, headers }: Call): Record<string, string> => ({
  ...headers,
  ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
  ...(body === undefined ? {} : { 'content-type': 'application/json' }),
});

const bodyOf = ({ body }: Call): { body?: string } => (body === undefined ? {} : { body: JSON.stringify(body) });

/** By shape: errors of `fetch` may come from another realm. */
const field = (error: unknown, name: string): unknown =>
  typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined;

const isTimeout = (error: unknown): boolean => field(error, 'name') === 'TimeoutError';

/** `fetch failed` says nothing; what failed stands in its cause. */
const reasonOf = (error: unknown): string => {
  const cause = field(error, 'cause');
  const messages = [field(cause, 'message'), field(cause, 'code'), field(error, 'message')];
  return String(messages.find((message) => typeof message === 'string' && message !== '') ?? error);
};

/**
 * A call whose answer is JSON of a known shape.
 * @throws {ApiError} @throws {Unreachable} @throws {UnexpectedAnswer}
 */
export const ask = async <Schema extends z.ZodType>(
  connection: Connection,
  call: Call,
  schema: Schema,
): Promise<z.output<Schema>> => {
  const signal = call.signal ?? AbortSignal.timeout(connection.timeoutMs);
  const answer = await send(connection, { ...call, signal });
  const parsed = schema.safeParse(await bodyFrom(answer));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new UnexpectedAnswer(`${call.method} ${call.path}: ${issue?.path.join('.')}: ${issue?.message}`);
};

const bodyFrom = async (answer: Response): Promise<unknown> => {
  const text = await answer.text().catch((error: unknown) => {
    throw new Unreachable(`${answer.url}: the answer broke off: ${reasonOf(error)}`, { cause: error });
  });
  try {
    return JSON.parse(text);
  } catch {
    throw new UnexpectedAnswer(`${answer.url}: the answer is not JSON`);
  }
};

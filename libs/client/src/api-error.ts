import { type Diagnostic, errorBodySchema } from '@fixpoint/contracts/rest/errors';

/** The API answered with a status of 400 or more. Branch on `code`: it is stable; `detail` is for people. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  /** Complaints about the document that was sent; empty for every other reason. */
  readonly diagnostics: readonly Diagnostic[];
  /** What the API asks to wait before the next try, ms; null when it asks for nothing. */
  readonly retryAfterMs: number | null;

  constructor(answer: Pick<ApiError, 'status' | 'code' | 'detail' | 'diagnostics' | 'retryAfterMs'>) {
    super(`${answer.status} ${answer.code}: ${answer.detail}`);
    this.status = answer.status;
    this.code = answer.code;
    this.detail = answer.detail;
    this.diagnostics = answer.diagnostics;
    this.retryAfterMs = answer.retryAfterMs;
  }
}

/** No answer: the address is wrong, nobody listens, the connection broke, or the time ran out. What became of a write is not known. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
}

/** The answer is not one of this API: another service listens there, or a release that this client does not know. */
export class UnexpectedAnswer extends Error {
  override readonly name = 'UnexpectedAnswer';
}

/** {@link ApiError} of an answer; a body that is none of this API's (a proxy's page) becomes the code `unknown`. */
export const apiErrorOf = async (answer: Response): Promise<ApiError> => {
  const text = await answer.text();
  const body = errorBodySchema.safeParse(parse(text));
  const seconds = Number(answer.headers.get('retry-after') ?? Number.NaN);
  return new ApiError({
    status: answer.status,
    ...(body.success ? body.data : { code: 'unknown', detail: text.slice(0, 200), diagnostics: [] }),
    retryAfterMs: Number.isFinite(seconds) ? seconds * 1000 : null,
  });
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

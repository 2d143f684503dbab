import type { Diagnostic, ErrorBody } from '@fixpoint/contracts/rest/errors';

/** An answer of 400 and more, decided where the request is understood. Thrown by controllers and what they call. */
export class HttpProblem extends Error {
  override readonly name = 'HttpProblem';
  readonly status: number;
  readonly body: ErrorBody;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, body: ErrorBody, headers: Readonly<Record<string, string>> = {}) {
    super(`${body.code}: ${body.detail}`);
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

/** 400: the document or body does not fit; nothing was stored. */
export const badInput = (code: string, detail: string, diagnostics: readonly Diagnostic[] = []): HttpProblem =>
  new HttpProblem(400, { code, detail, diagnostics: [...diagnostics] });

/** 404: there is no such thing. */
export const notFound = (code: string, detail: string): HttpProblem =>
  new HttpProblem(404, { code, detail, diagnostics: [] });

/** 429: come back later. */
export const tooManyRequests = (code: string, detail: string, retryAfterS: number): HttpProblem =>
  new HttpProblem(429, { code, detail, diagnostics: [] }, { 'retry-after': String(Math.ceil(retryAfterS)) });

/** 403: a key is known, its role does not suffice. */
export const forbidden = (code: string, detail: string): HttpProblem =>
  new HttpProblem(403, { code, detail, diagnostics: [] });

/** 401: nobody knows who asks. */
export const unauthenticated = (detail: string): HttpProblem =>
  new HttpProblem(401, { code: 'unauthenticated', detail, diagnostics: [] }, { 'www-authenticate': 'Bearer' });

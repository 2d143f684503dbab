import { APICallError, InvalidResponseDataError } from 'ai';
import { ModelFault } from '../model-fault.ts';

/** The provider understood us and will not answer this question: it is too long, or forbidden. No fault of the machinery. */
export class QuestionRefused extends Error {
  override readonly name = 'QuestionRefused';
}

/**
 * What a failed call says, by status and headers alone.
 * @param provider the model by the name that tasks use.
 * @returns the error itself where it does not come from a provider.
 */
export const providerFault = (error: unknown, provider: string): unknown => {
  if (InvalidResponseDataError.isInstance(error))
    return new ModelFault({ provider, faultClass: 'network', detail: 'its answer can not be read', cause: error });
  if (isOfSocket(error)) return new ModelFault({ provider, faultClass: 'network', detail: 'no answer', cause: error });
  if (!APICallError.isInstance(error)) return error;
  const { statusCode: status, responseHeaders: headers = {} } = error;
  if (status !== undefined && QUESTION.has(status))
    return new QuestionRefused(`${provider}: HTTP ${status}`, { cause: error });
  return new ModelFault({
    provider,
    faultClass: classOf(status),
    detail: detailOf(status),
    retryAfterMs: retryAfterMs(headers),
    cause: error,
  });
};

/** `fetch` says what went wrong with its connection in the cause. */
const isOfSocket = (error: unknown): boolean =>
  !APICallError.isInstance(error) &&
  typeof error === 'object' &&
  error !== null &&
  'cause' in error &&
  hasCode(error.cause);

const hasCode = (cause: unknown): boolean =>
  typeof cause === 'object' && cause !== null && 'code' in cause && typeof cause.code === 'string';

/** Too long, or not to be processed; the same question would be answered the same way. */
const QUESTION: ReadonlySet<number> = new Set([400, 413, 422]);
const LATER: ReadonlySet<number> = new Set([429, 503, 529]);

const classOf = (status: number | undefined): ModelFault['faultClass'] => {
  if (status === undefined || status < 400) return 'network';
  if (LATER.has(status)) return 'rate_limit';
  return status < 500 && status !== 408 ? 'provider_auth' : 'network';
};

const detailOf = (status: number | undefined): string => {
  if (status === undefined) return 'no answer';
  return status < 400 ? 'its answer can not be read' : `HTTP ${status}`;
};

const LONGEST_WAIT_MS = 24 * 3_600_000;

/** Seconds, or a date by the provider's own clock (its `date` header); some say ms in a header of their own. */
const retryAfterMs = (headers: Readonly<Record<string, string>>): number => {
  const given = headers['retry-after'] ?? '';
  const asked =
    positive(Number(headers['retry-after-ms'])) || positive(Number(given) * 1000) || until(given, headers.date);
  return Math.min(Math.ceil(asked), LONGEST_WAIT_MS);
};

const positive = (ms: number): number => (Number.isFinite(ms) && ms > 0 ? ms : 0);

const until = (date: string, now = ''): number => positive(Date.parse(date) - Date.parse(now));

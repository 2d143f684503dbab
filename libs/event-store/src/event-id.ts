import { hash } from 'node:crypto';

/** What makes an event id: the same four always give the same id, so a repeated message appends nothing new. */
export interface EventIdParts {
  /** Id of the event, timer, sweep or idempotency key that caused this decision. */
  readonly causeId: string;
  /** When the cause happened: ISO 8601. Orders ids roughly by time, which keeps their index dense. */
  readonly causeTime: string;
  /** Name of the handler that decided. */
  readonly handler: string;
  readonly stream: string;
  /** 0-based place in the decision. */
  readonly index: number;
}

const VARIANTS = ['8', '9', 'a', 'b'];

/**
 * A uuid of version 8 (RFC 9562): 48 bits of the cause's time in ms, then sha256 over the four parts.
 * @throws {RangeError} when the cause's time is not a time of the years 1970 to 10889.
 */
export const eventId = (parts: EventIdParts): string => {
  const ms = Date.parse(parts.causeTime);
  if (!(ms >= 0 && ms < 2 ** 48)) throw new RangeError(`cause ${parts.causeId} has no usable time: ${parts.causeTime}`);
  const time = ms.toString(16).padStart(12, '0');
  const digest = hash('sha256', JSON.stringify([parts.causeId, parts.handler, parts.stream, parts.index]), 'hex');
  const variant = VARIANTS[Number.parseInt(digest.slice(3, 4), 16) & 3] ?? '8';
  return `${time.slice(0, 8)}-${time.slice(8)}-8${digest.slice(0, 3)}-${variant}${digest.slice(4, 7)}-${digest.slice(7, 19)}`;
};

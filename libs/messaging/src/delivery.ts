import { headers, type Msg, type MsgHdrs, nanos } from '@nats-io/transport-node';
import type { Offer } from './bus.ts';
import type { Retry } from './settlement.ts';

/** What a message that was put back for one reader says in its headers. Others ack it unread. */
export interface Address {
  readonly reader: string;
  readonly failures: number;
  /** Milliseconds since the epoch, by the clock of whoever put it back. */
  readonly notBefore: number;
}

const READER = 'Fixpoint-Reader';
const FAILURES = 'Fixpoint-Failures';
const NOT_BEFORE = 'Fixpoint-Not-Before';
/** Of W3C Trace Context. */
const TRACEPARENT = 'traceparent';

/** A clock that is wrong on one machine must not park a message: a wait is never longer than this. */
const LONGEST_WAIT_MS = 60_000;

/**
 * The count of failures travels with the message: it survives every process, needs no table, and ends with the message.
 * The server's own delivery count would not do: it counts what was only put off.
 */
export const addressedTo = (reader: string, retry: Retry, nowMs: number): MsgHdrs => {
  const to = headers();
  to.set(READER, reader);
  to.set(FAILURES, String(retry.failures));
  to.set(NOT_BEFORE, String(Math.round(nowMs + withJitter(retry.delayMs))));
  if (retry.offer.sentBy !== undefined) to.set(TRACEPARENT, retry.offer.sentBy);
  return to;
};

/** `00-` and the trace id: what offers of one lineage have in common. */
const traceOf = ({ sentBy }: Offer): string | undefined => sentBy?.slice(0, 35);

/** The trace context of a message, where all that it carries is of one trace; a message without telemetry has none. */
export const tracedHeaders = (offers: readonly Offer[]): MsgHdrs | undefined => {
  const [first] = offers;
  if (first?.sentBy === undefined) return undefined;
  if (offers.some((offer) => traceOf(offer) !== traceOf(first))) return undefined;
  const traced = headers();
  traced.set(TRACEPARENT, first.sentBy);
  return traced;
};

/** What a message says of its sender goes with each of its offers. */
export const withSender = (message: Msg, offers: readonly Offer[]): readonly Offer[] => {
  const sentBy = message.headers?.get(TRACEPARENT) ?? '';
  return sentBy === '' ? offers : offers.map((offer) => ({ ...offer, sentBy }));
};

/** Null for an ordinary message, which is for every reader of its type. */
export const addressOf = (message: Msg): Address | null => {
  const reader = message.headers?.get(READER) ?? '';
  if (reader === '') return null;
  return {
    reader,
    failures: Number(message.headers?.get(FAILURES)) || 0,
    notBefore: Number(message.headers?.get(NOT_BEFORE)) || 0,
  };
};

/** Milliseconds that an addressed message still has to wait; 0 when it is due. */
export const waitOf = (address: Address, nowMs: number): number =>
  Math.min(LONGEST_WAIT_MS, Math.max(0, address.notBefore - nowMs));

/** Handled, and never offered again. */
export const ack = (message: Msg): void => {
  message.respond('+ACK');
};

/** Comes again after the delay, and a little later so that a crowd spreads. Never at once: the server would spin. */
export const nak = (message: Msg, delayMs: number): void => {
  message.respond(`-NAK ${JSON.stringify({ delay: nanos(Math.ceil(withJitter(Math.max(1, delayMs)))) })}`);
};

/** Still in hand: the server's ack wait begins anew. */
export const working = (message: Msg): void => {
  message.respond('+WPI');
};

/** Can never be handled by anybody. */
export const terminate = (message: Msg, reason: string): void => {
  message.respond(`+TERM ${reason}`);
};

const withJitter = (delayMs: number): number => delayMs * (1 + Math.random() * 0.2);

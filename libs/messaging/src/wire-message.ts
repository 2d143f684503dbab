import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { currentEvent } from '@fixpoint/contracts/events/current-event';
import type { Offer, Publication } from './bus.ts';

/** Where an event is in the store. */
export interface Pointer {
  readonly stream: string;
  readonly version: number;
}

/** What a message says: the events themselves, or where they are when one would not fit. */
export type WireMessage =
  | { readonly kind: 'offers'; readonly offers: readonly Offer[] }
  | { readonly kind: 'pointer'; readonly event: Pointer; readonly nodeReady: Pointer | null }
  | { readonly kind: 'malformed'; readonly problem: string };

/** One message to be: a body, and what is in it. */
export interface OutgoingMessage<P> {
  readonly body: string;
  readonly carries: readonly P[];
}

export interface MessageLimits {
  readonly maxOffers: number;
  /** UTF-8 bytes of a message of many offers. */
  readonly maxBatchBytes: number;
  /** UTF-8 bytes of a message of one offer; above it goes a pointer. */
  readonly maxOfferBytes: number;
}

/** Server 2.9 refuses more than 1 MiB, headers and subject included. */
export const MESSAGE_LIMITS: MessageLimits = { maxOffers: 100, maxBatchBytes: 512 * 1024, maxOfferBytes: 900 * 1024 };

/**
 * Packs publications of one type and class into as few messages as the limits allow, in order.
 * Each offer is encoded once.
 */
export const packMessages = <P extends { readonly publication: Publication }>(
  items: readonly P[],
  limits: MessageLimits,
): OutgoingMessage<P>[] => {
  const messages: OutgoingMessage<P>[] = [];
  let parts: string[] = [];
  let carries: P[] = [];
  let bytes = 0;
  const close = (): void => {
    if (parts.length > 0) messages.push({ body: `{"offers":[${parts.join(',')}]}`, carries });
    parts = [];
    carries = [];
    bytes = 0;
  };
  for (const item of items) {
    const part = encodeOffer(item.publication.offer);
    const size = Buffer.byteLength(part);
    if (size > limits.maxOfferBytes) {
      messages.push({ body: encodePointer(item.publication.offer), carries: [item] });
      continue;
    }
    if (parts.length === limits.maxOffers || bytes + size > limits.maxBatchBytes) close();
    parts.push(part);
    carries.push(item);
    bytes += size;
  }
  close();
  return messages;
};

const encodeOffer = ({ event, nodeReady }: Offer): string => JSON.stringify({ event, node_ready: nodeReady });

const encodePointer = ({ event, nodeReady }: Offer): string =>
  JSON.stringify({
    pointer: { event: pointerTo(event), node_ready: nodeReady === null ? null : pointerTo(nodeReady) },
  });

const pointerTo = ({ stream, version }: RecordedEvent): Pointer => ({ stream, version });

/** Reads a message. Only the envelope is looked at: what an event says is its reader's to judge. */
export const parseMessage = (text: string): WireMessage => {
  const body = parseJson(text);
  if (!isObject(body)) return malformed('it is not a JSON object');
  if ('pointer' in body) return parsePointer(body.pointer);
  if (!Array.isArray(body.offers) || body.offers.length === 0) return malformed('it has no offers');
  const offers = body.offers.map(parseOffer);
  return offers.every((offer) => offer !== null) ? { kind: 'offers', offers } : malformed('an offer has no event');
};

const parseOffer = (offer: unknown): Offer | null => {
  if (!isObject(offer) || !isEvent(offer.event)) return null;
  const nodeReady = offer.node_ready ?? null;
  if (nodeReady !== null && !isEvent(nodeReady)) return null;
  // A process of the release before may have sent it.
  return { event: currentEvent(offer.event), nodeReady: nodeReady && currentEvent(nodeReady) };
};

const parsePointer = (pointer: unknown): WireMessage => {
  if (!isObject(pointer) || !isPointer(pointer.event)) return malformed('the pointer leads nowhere');
  const nodeReady = pointer.node_ready ?? null;
  if (nodeReady !== null && !isPointer(nodeReady)) return malformed('the pointer to node_ready leads nowhere');
  return { kind: 'pointer', event: pointer.event, nodeReady };
};

const malformed = (problem: string): WireMessage => ({ kind: 'malformed', problem });

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const isPointer = (value: unknown): value is Pointer =>
  isObject(value) && typeof value.stream === 'string' && Number.isInteger(value.version);

/** The fields that name an event; the rest is trusted, because only services of this installation may publish here. */
const isEvent = (value: unknown): value is RecordedEvent =>
  isObject(value) && typeof value.id === 'string' && typeof value.type === 'string' && isPointer(value);

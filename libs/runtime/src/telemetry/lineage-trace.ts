import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import type { SpanContext } from '@opentelemetry/api';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/**
 * A lineage is one trace, and its id is the trace's: a timer, a healer or another release finds the trace without having
 * been told. Null for what is no lineage.
 */
export const traceIdOf = (root: string): string | null => (UUID.test(root) ? root.replaceAll('-', '') : null);

/** W3C Trace Context, level 1. */
export const traceparentOf = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-${(traceFlags & 1) === 1 ? '01' : '00'}`;

/** Null for anything but a traceparent of version 00 with ids that are not all zero. */
export const spanContextOf = (traceparent: string | undefined): SpanContext | null => {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId, traceFlags: Number.parseInt(flags ?? '0', 16) & 1, isRemote: true };
};

/** Where an event was made; null when it was made without telemetry. */
export const originOf = ({ metadata }: Pick<RecordedEvent, 'metadata'>): SpanContext | null =>
  spanContextOf(metadata.traceparent);

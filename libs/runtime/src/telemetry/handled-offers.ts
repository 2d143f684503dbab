import { type Context, context, createContextKey, type Span, type SpanContext } from '@opentelemetry/api';

const HANDLED = createContextKey('fixpoint: spans of the offers in hand, by the id of their event');

/** Lets what a batch causes find its way to the span of the one offer that caused it. */
export const withHandled = (within: Context, spans: ReadonlyMap<string, Span>): Context =>
  within.setValue(HANDLED, spans);

/** Of the offer in hand whose event has this id; undefined outside of a batch. */
export const spanOfCause = (causationId: string): SpanContext | undefined => {
  // Set by `withHandled` and nobody else.
  const spans = context.active().getValue(HANDLED) as ReadonlyMap<string, Span> | undefined;
  return spans?.get(causationId)?.spanContext();
};

import type { Offer, Reader, Verdict } from '@fixpoint/messaging/bus';
import {
  type Attributes,
  type Context,
  context,
  type Link,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  trace,
} from '@opentelemetry/api';
import { recordLag } from './event-lag.ts';
import { withHandled } from './handled-offers.ts';
import { originOf, spanContextOf } from './lineage-trace.ts';
import { during, type Instruments, linkTo, markFailed, type Spans, serviceOf } from './spans.ts';

/**
 * A span per offer, below the append that made its event, also when it comes again. Several at once belong to several
 * lineages: the batch is a trace of its own then, linked with each of them.
 */
export const tracedReader = (reader: Reader, { spans, metrics }: Instruments, system: string): Reader => {
  const about = {
    'messaging.system': system,
    'messaging.operation.name': 'process',
    'messaging.consumer.group.name': reader.name,
  };
  const desk = {
    spans,
    reader: reader.name,
    attributes: { ...about, 'messaging.operation.type': 'process', 'fixpoint.service': serviceOf(reader.name) },
  };
  return {
    ...reader,
    handle: async (offers, signal) => {
      const inHand = open(desk, offers);
      const startedAt = performance.now();
      const handled = async (): Promise<readonly Verdict[]> => {
        const verdicts = await context.with(inHand.context, () => reader.handle(offers, signal));
        for (const [index, span] of inHand.spans.entries()) mark(span, verdicts[index]);
        return verdicts;
      };
      const verdicts = await during(inHand.all, handled);
      metrics.record('messaging.process.duration', (performance.now() - startedAt) / 1_000, about);
      recordLag(
        metrics,
        reader.name,
        offers.map(({ event }) => event),
      );
      return verdicts;
    },
    deadLetter: async (offer, deliveries, error) => {
      const span = openOne(desk, offer, { name: 'dead_letter', links: [] });
      markFailed(span, error);
      await during([span], () =>
        context.with(trace.setSpan(ROOT_CONTEXT, span), () => reader.deadLetter(offer, deliveries, error)),
      );
      metrics.add('fixpoint.dead_letter.recorded', 1, { 'fixpoint.reader': reader.name });
    },
  };
};

interface Desk {
  readonly spans: Spans;
  readonly reader: string;
  readonly attributes: Attributes;
}

interface InHand {
  /** One per offer, in order. */
  readonly spans: readonly Span[];
  /** The batch's among them. */
  readonly all: readonly Span[];
  /** In which the handler runs. */
  readonly context: Context;
}

const open = (desk: Desk, offers: readonly Offer[]): InHand => {
  const [only] = offers;
  if (only !== undefined && offers.length === 1) {
    const span = openOne(desk, only, { name: 'process', links: [] });
    return { spans: [span], all: [span], context: trace.setSpan(ROOT_CONTEXT, span) };
  }
  const batch = openBatch(desk, offers);
  const links = [linkTo(batch.spanContext())];
  const spans = offers.map((offer) => openOne(desk, offer, { name: 'process', links }));
  const byEvent = new Map(offers.map(({ event }, index) => [event.id, spans[index] ?? batch]));
  return { spans, all: [...spans, batch], context: withHandled(trace.setSpan(ROOT_CONTEXT, batch), byEvent) };
};

const openOne = (
  { spans, attributes }: Desk,
  { event, sentBy }: Offer,
  { name, links }: { readonly name: string; readonly links: readonly Link[] },
): Span => {
  // Whoever sent the message last need not be who made the event.
  const sender = spanContextOf(sentBy);
  return spans.open({
    name: `${name} ${event.type}`,
    kind: SpanKind.CONSUMER,
    attributes: {
      ...attributes,
      'messaging.destination.name': event.type,
      'messaging.message.id': event.id,
      'fixpoint.lineage': event.root,
    },
    parent: originOf(event),
    root: event.root,
    links: sender === null ? links : [...links, linkTo(sender)],
  });
};

const openBatch = ({ spans, reader, attributes }: Desk, offers: readonly Offer[]): Span =>
  spans.open({
    name: `process batch ${reader}`,
    kind: SpanKind.CONSUMER,
    attributes: { ...attributes, 'messaging.batch.message_count': offers.length },
    parent: null,
    links: offers.flatMap(({ event }) => originOf(event) ?? []).map(linkTo),
  });

const mark = (span: Span, said: Verdict | undefined): void => {
  span.setAttribute('fixpoint.verdict', said?.verdict ?? 'none');
  if (said?.verdict === 'later') span.setAttribute('fixpoint.reason', said.reason);
  if (said?.verdict === 'failed') markFailed(span, said.error);
};

import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import type { Bus, Publication, Reader, ReaderSubscription } from '@fixpoint/messaging/bus';
import { isSpanContextValid, type Span, SpanKind } from '@opentelemetry/api';
import { originOf, traceparentOf } from './lineage-trace.ts';
import type { Metrics } from './metrics.ts';
import { during, type Instruments, linkTo, type Spans, serviceOf } from './spans.ts';
import { tracedReader } from './traced-reader.ts';

/** A span per event that goes out, below the append that made it; readers are wrapped by {@link tracedReader}. */
export const tracedBus = (bus: Bus, instruments: Instruments, system: string): Bus => ({
  publish: (publications) => {
    const sent = publications.map((publication) => sending(instruments.spans, publication, system));
    const spans = sent.flatMap(({ span }) => span ?? []);
    return during(spans, () => bus.publish(sent.map(({ publication }) => publication)));
  },
  subscribe: async (reader) =>
    counted(await bus.subscribe(tracedReader(reader, instruments, system)), reader, instruments.metrics),
  listen: (types, onOffer) => bus.listen(types, onOffer),
  watch: (onPublished) => bus.watch(onPublished),
  healthy: () => bus.healthy(),
  close: () => bus.close(),
});

/** Scrapes may come thick; the broker is asked at most this often. */
const BACKLOG_EVERY_MS = 10_000;

const counted = (subscription: ReaderSubscription, { name }: Reader, metrics: Metrics): ReaderSubscription => {
  const backlog = seldom(() => subscription.backlog(), BACKLOG_EVERY_MS);
  const end = metrics.observe('fixpoint.bus.consumer.backlog', async () => {
    const messages = await backlog();
    return messages === null ? [] : [{ value: messages, attributes: { 'fixpoint.reader': name } }];
  });
  const drain = (signal: AbortSignal): Promise<void> => {
    end();
    return subscription.drain(signal);
  };
  return { healthy: () => subscription.healthy(), backlog: () => subscription.backlog(), drain };
};

/** The last answer until it is too old. */
const seldom = <Answer>(ask: () => Promise<Answer>, everyMs: number): (() => Promise<Answer>) => {
  let last: { readonly atMs: number; readonly answer: Promise<Answer> } | null = null;
  return () => {
    const atMs = performance.now();
    if (last === null || atMs - last.atMs >= everyMs) last = { atMs, answer: ask() };
    return last.answer;
  };
};

/** An event that was made without telemetry has no trace to be sent in. */
const sending = (
  spans: Spans,
  publication: Publication,
  system: string,
): { readonly publication: Publication; readonly span: Span | null } => {
  const { offer, reoffer } = publication;
  const origin = originOf(offer.event);
  if (origin === null) return { publication, span: null };
  const active = spans.active()?.spanContext();
  const span = spans.open({
    name: `publish ${offer.event.type}`,
    kind: SpanKind.PRODUCER,
    attributes: { ...aboutMessage(offer.event, system), 'fixpoint.reoffer': reoffer !== '' },
    parent: origin,
    // Whoever replays a dead letter does it in a trace of his own.
    links: active !== undefined && active.traceId !== origin.traceId ? [linkTo(active)] : [],
  });
  const sentBy = span.spanContext();
  if (!isSpanContextValid(sentBy)) return { publication, span };
  return { publication: { ...publication, offer: { ...offer, sentBy: traceparentOf(sentBy) } }, span };
};

const aboutMessage = ({ id, type, root, metadata }: RecordedEvent, system: string) => ({
  'messaging.system': system,
  'messaging.operation.name': 'publish',
  'messaging.operation.type': 'send',
  'messaging.destination.name': type,
  'messaging.message.id': id,
  'fixpoint.service': serviceOf(metadata.producer),
  'fixpoint.lineage': root,
});

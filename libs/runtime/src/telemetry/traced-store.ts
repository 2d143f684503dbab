import type { Append, AppendOutcome, EventStore } from '@fixpoint/event-store/event-store';
import { isSpanContextValid, type Link, type Span, type SpanContext, SpanKind } from '@opentelemetry/api';
import { spanOfCause } from './handled-offers.ts';
import { originOf, traceIdOf, traceparentOf } from './lineage-trace.ts';
import { during, type Instruments, linkTo, markFailed, type Spans, serviceOf } from './spans.ts';

interface Begun {
  readonly append: Append;
  readonly span: Span;
}

/**
 * A span per append, in the trace of its lineage; its context goes into the metadata of the events, so whoever reads
 * them goes on below it.
 */
export const tracedStore = (store: EventStore, { spans, metrics }: Instruments): EventStore => {
  const appendAll = async (appends: readonly Append[]): Promise<readonly AppendOutcome[]> => {
    const begun = appends.map((append) => begin(spans, append));
    const opened = begun.map(({ span }) => span);
    const startedAt = performance.now();
    return during(opened, async () => {
      const outcomes = await store.appendAll(begun.map(({ append }) => append));
      metrics.record('db.client.operation.duration', (performance.now() - startedAt) / 1_000, APPEND);
      for (const [index, span] of opened.entries()) mark(span, outcomes[index]);
      return outcomes;
    });
  };
  return {
    append: async (append) => {
      const [outcome] = await appendAll([append]);
      if (outcome === undefined) throw new Error(`${append.stream}: the store said nothing of an append`);
      return outcome;
    },
    appendAll,
    readStream: (stream, fromVersion, toVersion) => store.readStream(stream, fromVersion, toVersion),
    readStreams: (streams, toVersion) => store.readStreams(streams, toVersion),
    readAll: (after, limit) => store.readAll(after, limit),
    find: (id) => store.find(id),
    watermark: () => store.watermark(),
    changed: (timeoutMs, signal) => store.changed(timeoutMs, signal),
  };
};

const APPEND = { 'db.system.name': 'postgresql', 'db.operation.name': 'append' } as const;

const begin = (spans: Spans, append: Append): Begun => {
  const [first] = append.events;
  if (first === undefined) return { append, span: spans.open({ ...NOTHING, name: 'append', root: append.root }) };
  const active = spans.active();
  const parent = parentOf(append, active);
  const span = spans.open({
    name: `append ${first.type}`,
    kind: SpanKind.CLIENT,
    attributes: {
      ...APPEND,
      'fixpoint.service': serviceOf(first.metadata.producer),
      'fixpoint.stream': append.stream,
      'fixpoint.lineage': append.root,
      'fixpoint.events': append.events.length,
    },
    parent,
    root: append.root,
    links: linksTo(active, parent, append),
  });
  if (parent === null) active?.addLink(linkTo(span.spanContext()));
  return { append: stamped(append, span.spanContext()), span };
};

const NOTHING = { kind: SpanKind.CLIENT, attributes: APPEND, parent: null };

/** The span that the append belongs under: of its cause, of what is running, of the event before; in this order. */
const parentOf = ({ root, events }: Append, active: Span | undefined): SpanContext | null => {
  const [first] = events;
  if (first === undefined) return null;
  const ofCause = spanOfCause(first.metadata.causation_id);
  if (ofCause !== undefined) return ofCause;
  const trace = traceIdOf(root);
  const running = active?.spanContext();
  if (running !== undefined && (trace === null || running.traceId === trace)) return running;
  const before = originOf(first);
  return before !== null && (trace === null || before.traceId === trace) ? before : null;
};

/** A request or a timer is in no lineage's trace: it is linked. */
const linksTo = (active: Span | undefined, parent: SpanContext | null, { root }: Append): Link[] => {
  const running = active?.spanContext();
  if (running === undefined || parent === running || !isSpanContextValid(running)) return [];
  return running.traceId === traceIdOf(root) ? [] : [linkTo(running)];
};

const stamped = (append: Append, origin: SpanContext): Append => {
  if (!isSpanContextValid(origin)) return append;
  const traceparent = traceparentOf(origin);
  const events = append.events.map((event) => ({ ...event, metadata: { ...event.metadata, traceparent } }));
  return { ...append, events };
};

const mark = (span: Span, outcome: AppendOutcome | undefined): void => {
  span.setAttribute('fixpoint.append.outcome', outcome?.outcome ?? 'unknown');
  if (outcome?.outcome === 'rejected') markFailed(span, outcome.code);
};

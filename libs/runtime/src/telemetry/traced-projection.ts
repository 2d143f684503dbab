import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { type Span, type SpanContext, SpanKind } from '@opentelemetry/api';
import { recordLag } from './event-lag.ts';
import { originOf } from './lineage-trace.ts';
import { during, type Instruments, linkTo, type Spans, serviceOf } from './spans.ts';

/** A span per lineage of a page, below the newest of its events; a page of several is a trace of its own, linked with each. */
export const tracedProjection =
  ({ spans, metrics }: Instruments) =>
  async (projection: string, events: readonly RecordedEvent[], apply: () => Promise<void>): Promise<void> => {
    await during(opened(spans, projection, originsOf(events)), apply);
    recordLag(metrics, projection, events);
  };

const opened = (spans: Spans, projection: string, origins: ReadonlyMap<string, SpanContext>): Span[] => {
  const attributes = { 'fixpoint.projection': projection, 'fixpoint.service': serviceOf(projection) };
  const plan = { name: `project ${projection}`, kind: SpanKind.INTERNAL, attributes };
  const page =
    origins.size > 1 ? spans.open({ ...plan, parent: null, links: [...origins.values()].map(linkTo) }) : null;
  const links = page === null ? [] : [linkTo(page.spanContext())];
  const ofLineages = [...origins].map(([root, parent]) =>
    spans.open({ ...plan, attributes: { ...attributes, 'fixpoint.lineage': root }, parent, links }),
  );
  return page === null ? ofLineages : [...ofLineages, page];
};

/** Where the newest event of each lineage was made. */
const originsOf = (events: readonly RecordedEvent[]): ReadonlyMap<string, SpanContext> => {
  const newest = new Map(events.map((event) => [event.root, event]));
  return new Map(
    [...newest].flatMap(([root, event]) => {
      const origin = originOf(event);
      return origin === null ? [] : [[root, origin]];
    }),
  );
};

import {
  type Attributes,
  context,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  type SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { traceIdOf } from './lineage-trace.ts';
import type { Metrics } from './metrics.ts';
import type { SpanIds } from './span-ids.ts';

export interface SpanPlan {
  readonly name: string;
  readonly kind: SpanKind;
  readonly attributes: Attributes;
  /** Null begins a tree. */
  readonly parent: SpanContext | null;
  /** Where a tree begins: in the trace of this lineage, or, when it is none, in a trace of its own. */
  readonly root?: string;
  readonly links?: readonly Link[];
}

/** What the wrapped adapters work with. */
export interface Instruments {
  readonly spans: Spans;
  readonly metrics: Metrics;
}

/** More links than this are cut off by the SDK. */
const MOST_LINKS = 128;

/** Opens spans with parents that are given by value: the work of many lineages runs in one call. */
export class Spans {
  readonly #tracer: Tracer;
  readonly #ids: SpanIds;

  constructor(tracer: Tracer, ids: SpanIds) {
    this.#tracer = tracer;
    this.#ids = ids;
  }

  open({ name, kind, attributes, parent, root, links = [] }: SpanPlan): Span {
    const options = { kind, attributes, links: links.slice(0, MOST_LINKS) };
    if (parent !== null) return this.#tracer.startSpan(name, options, trace.setSpanContext(ROOT_CONTEXT, parent));
    return this.#ids.inTrace(root === undefined ? null : traceIdOf(root), () =>
      this.#tracer.startSpan(name, options, ROOT_CONTEXT),
    );
  }

  /** The span of the work that is running; undefined outside of any. */
  active(): Span | undefined {
    return trace.getSpan(context.active());
  }
}

export const linkTo = (spanContext: SpanContext): Link => ({ context: spanContext });

const LONGEST_MESSAGE = 500;

/** Marks a span as failed. The message of the error is kept, not its stack: it may be long. */
export const markFailed = (span: Span, error: unknown): void => {
  const message = error instanceof Error ? error.message : String(error);
  span.setStatus({ code: SpanStatusCode.ERROR, message: message.slice(0, LONGEST_MESSAGE) });
};

/** Does the work these spans are about: they end with it, as failed when it throws. */
export const during = async <Result>(spans: readonly Span[], work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    for (const span of spans) markFailed(span, error);
    throw error;
  } finally {
    for (const span of spans) span.end();
  }
};

/** `executor` of `executor__run`. */
export const serviceOf = (producer: string): string => producer.split('__', 1)[0] ?? producer;

import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { trace } from '@opentelemetry/api';
import { NodeSDK, type NodeSDKConfiguration } from '@opentelemetry/sdk-node';
import type { Metrics } from './metrics.ts';
import { SpanIds } from './span-ids.ts';
import { type Instruments, Spans } from './spans.ts';

type Processor = NonNullable<NodeSDKConfiguration['spanProcessors']>[number];
type EndedSpan = Parameters<Processor['onEnd']>[0];

/** A span as specs look at it. */
export interface SeenSpan {
  readonly name: string;
  readonly trace: string;
  readonly id: string;
  /** Null: it begins a tree. */
  readonly parent: string | null;
  readonly links: readonly string[];
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Empty unless it failed. */
  readonly failure: string;
}

export interface RecordedTelemetry extends Instruments {
  /** Spans that have ended, in the order of their ends. */
  readonly seen: () => readonly SeenSpan[];
  /** The span of this name; fails when there is none or more than one. */
  readonly named: (name: string) => SeenSpan;
  readonly measured: readonly string[];
  /** Asks a gauge as a collection of metrics does. */
  readonly gauge: (name: string) => Promise<readonly unknown[]>;
  readonly clear: () => void;
  readonly stop: () => Promise<void>;
}

const seenSpan = (span: EndedSpan): SeenSpan => ({
  name: span.name,
  trace: span.spanContext().traceId,
  id: span.spanContext().spanId,
  parent: span.parentSpanContext?.spanId ?? null,
  links: span.links.map((link) => link.context.spanId),
  attributes: span.attributes,
  failure: span.status.code === 2 ? (span.status.message ?? 'failed') : '',
});

/** The real SDK, which keeps what it is told instead of sending it. Once per process. */
export const recordedTelemetry = (sampler?: NodeSDKConfiguration['sampler']): RecordedTelemetry => {
  const ended: SeenSpan[] = [];
  const measured: string[] = [];
  const gauges = new Map<string, () => Promise<readonly unknown[]>>();
  const ids = new SpanIds();
  const keep: Processor = {
    onStart: () => undefined,
    onEnd: (span) => void ended.push(seenSpan(span)),
    forceFlush: async () => undefined,
    shutdown: async () => undefined,
  };
  const sdk = new NodeSDK({
    idGenerator: ids,
    spanProcessors: [keep],
    metricReaders: [],
    logRecordProcessors: [],
    autoDetectResources: false,
    ...(sampler === undefined ? {} : { sampler }),
  });
  sdk.start();
  const note = (name: string, _value: number, attributes: object = {}): void =>
    void measured.push([name, ...Object.values(attributes)].join(' '));
  const metrics: Metrics = {
    ...{ enabled: true, add: note, record: note, set: note },
    observe: (name, read) => {
      gauges.set(name, read);
      return () => void gauges.delete(name);
    },
  };
  return {
    spans: new Spans(trace.getTracer('spec'), ids),
    metrics,
    seen: () => ended,
    named: (name) => {
      const [found, ...more] = ended.filter((span) => span.name === name);
      if (found === undefined || more.length > 0) throw new Error(`${more.length} more than one span "${name}"`);
      return found;
    },
    measured,
    gauge: async (name) => (await gauges.get(name)?.()) ?? [],
    clear: () => {
      ended.length = 0;
      measured.length = 0;
    },
    stop: () => sdk.shutdown(),
  };
};

export const ROOT = '0af76519-16cd-43dd-8448-eb211c80319c';
export const OTHER_ROOT = '1bf76519-16cd-43dd-8448-eb211c80319d';
export const traceOf = (root: string): string => root.replaceAll('-', '');

/** An event of a lineage, made without telemetry unless `traceparent` says otherwise. */
export const recordedEvent = (root: string, type: string, traceparent?: string): RecordedEvent => ({
  id: `event-${type}-${root.slice(0, 4)}`,
  type,
  schema_version: 1,
  data: {},
  metadata: {
    causation_id: 'cause',
    correlation_id: root,
    producer: 'orchestrator__decide',
    actor: 'system',
    ...(traceparent === undefined ? {} : { traceparent }),
  },
  occurred_at: '2026-01-01T00:00:00.000Z',
  root,
  stream: `lineage-${root}`,
  version: 1,
  cursor: { epoch: 0, xid: '1', position: '1' },
  hash: '00',
});

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { z } from 'zod';

const valueSchema = z.object({
  stringValue: z.string().optional(),
  intValue: z.union([z.string(), z.number()]).optional(),
  boolValue: z.boolean().optional(),
  doubleValue: z.number().optional(),
});
const attributesSchema = z.array(z.object({ key: z.string(), value: valueSchema })).default([]);
const resourceSchema = z.object({ attributes: attributesSchema });

const spanSchema = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  attributes: attributesSchema,
  links: z.array(z.object({ traceId: z.string(), spanId: z.string() })).default([]),
});
const tracesSchema = z.object({
  resourceSpans: z.array(
    z.object({ resource: resourceSchema, scopeSpans: z.array(z.object({ spans: z.array(spanSchema) })) }),
  ),
});

const pointSchema = z.object({ attributes: attributesSchema });
const pointsSchema = z.object({ dataPoints: z.array(pointSchema) });
const metricSchema = z.object({
  name: z.string(),
  unit: z.string().default(''),
  sum: pointsSchema.optional(),
  gauge: pointsSchema.optional(),
  histogram: pointsSchema.optional(),
});
const metricsSchema = z.object({
  resourceMetrics: z.array(
    z.object({ resource: resourceSchema, scopeMetrics: z.array(z.object({ metrics: z.array(metricSchema) })) }),
  ),
});

/** A span as it was exported. */
export interface ExportedSpan {
  /** `service.name` of whoever sent it. */
  readonly sender: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty: none. */
  readonly parentSpanId: string;
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
}

/** A metric that was exported at least once. */
export interface ExportedMetric {
  readonly sender: string;
  readonly name: string;
  readonly unit: string;
  /** Of all its points so far. */
  readonly attributes: readonly string[];
}

/** Stands in for a collector: takes OTLP as JSON over HTTP and keeps it. */
export interface OtlpCollector {
  readonly url: string;
  spans(): readonly ExportedSpan[];
  metrics(): readonly ExportedMetric[];
  close(): Promise<void>;
}

export const startOtlpCollector = async (): Promise<OtlpCollector> => {
  const spans: ExportedSpan[] = [];
  const metrics: ExportedMetric[] = [];
  const take = async (request: IncomingMessage): Promise<void> => {
    const body = await json(request);
    if (request.url === '/v1/traces') spans.push(...spansIn(body));
    else if (request.url === '/v1/metrics') metrics.push(...metricsIn(body));
  };
  const server = createServer((request, response) => {
    take(request).then(
      () => response.setHeader('content-type', 'application/json').end('{}'),
      (error: unknown) => response.writeHead(400).end(String(error)),
    );
  });
  return {
    url: await listening(server),
    spans: () => spans,
    metrics: () => metrics,
    close: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
};

/** @returns where it listens. */
const listening = async (server: Server): Promise<string> => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A server on TCP has an address of this kind.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const textOf = (value: z.infer<typeof valueSchema>): string => String(Object.values(value)[0] ?? '');
const recordOf = (attributes: z.infer<typeof attributesSchema>): Record<string, string> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, textOf(value)]));
const senderOf = (resource: z.infer<typeof resourceSchema>): string =>
  recordOf(resource.attributes)['service.name'] ?? '';

const spansIn = (body: unknown): ExportedSpan[] =>
  tracesSchema.parse(body).resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap((scope) =>
      scope.spans.map(({ parentSpanId = '', attributes, ...span }) => ({
        ...span,
        sender: senderOf(resource),
        parentSpanId,
        attributes: recordOf(attributes),
      })),
    ),
  );

const metricsIn = (body: unknown): ExportedMetric[] =>
  metricsSchema.parse(body).resourceMetrics.flatMap(({ resource, scopeMetrics }) =>
    scopeMetrics.flatMap((scope) =>
      scope.metrics.map(({ name, unit, sum, gauge, histogram }) => ({
        sender: senderOf(resource),
        name,
        unit,
        attributes: [sum, gauge, histogram].flatMap(
          (points) => points?.dataPoints.flatMap((point) => Object.keys(recordOf(point.attributes))) ?? [],
        ),
      })),
    ),
  );

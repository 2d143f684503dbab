import { createServer } from 'node:net';
import { hostname } from 'node:os';
import { DiagLogLevel, diag, metrics as meters, trace } from '@opentelemetry/api';
import { envDetector, resourceFromAttributes, serviceInstanceIdDetector } from '@opentelemetry/resources';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { ExportWarnings } from './export-warnings.ts';
import { logFields } from './log-fields.ts';
import { noMetrics } from './metrics.ts';
import { otelMetrics } from './otel-metrics.ts';
import { SpanIds } from './span-ids.ts';
import { type Instruments, Spans } from './spans.ts';
import type { Telemetry } from './telemetry.ts';
import type { TelemetryPlan } from './telemetry-settings.ts';
import { tracedBus } from './traced-bus.ts';
import { traceHttp } from './traced-http.ts';
import { tracedProjection } from './traced-projection.ts';
import { tracedRunner } from './traced-runner.ts';
import { tracedStore } from './traced-store.ts';

const SCOPE = 'fixpoint';

/**
 * Starts the SDK, which reads the rest of its configuration from OTEL_* itself. Once per process.
 * @throws when the port of Prometheus is taken.
 */
export const startSdk = async (service: string, plan: TelemetryPlan): Promise<Telemetry> => {
  if (plan.prometheus !== null) await assertFree(plan.prometheus);
  const warnings = new ExportWarnings(() => performance.now());
  const ids = new SpanIds();
  const sdk = sdkOf(service, plan, ids);
  const say = (message: string): void => warnings.say(message);
  diag.setLogger({ error: say, warn: say, info: ignore, debug: ignore, verbose: ignore }, QUIET);
  sdk.start();
  const spans = new Spans(trace.getTracer(SCOPE), ids);
  const report = (name: string, error: unknown): void => say(`${name} could not be read: ${String(error)}`);
  const metrics = plan.metrics ? otelMetrics(meters.getMeter(SCOPE), report) : noMetrics;
  return telemetryOf({ spans, metrics }, { sdk, warnings });
};

const ignore = (): void => undefined;
const QUIET = { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true };

const sdkOf = (service: string, plan: TelemetryPlan, idGenerator: SpanIds): NodeSDK =>
  new NodeSDK({
    serviceName: plan.serviceName ?? service,
    resource: resourceFromAttributes({
      'service.namespace': 'fixpoint',
      'host.name': hostname(),
      'process.pid': process.pid,
      'process.runtime.version': process.versions.node,
    }),
    resourceDetectors: [serviceInstanceIdDetector, envDetector],
    idGenerator,
    instrumentations: [],
    logRecordProcessors: [],
    ...(plan.traces ? {} : { spanProcessors: [] }),
    ...(plan.metrics ? {} : { metricReaders: [] }),
  });

/** The exporter of Prometheus would only warn, long after the start. */
const assertFree = ({ host, port }: NonNullable<TelemetryPlan['prometheus']>): Promise<void> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error) =>
      reject(new Error(`OTEL_EXPORTER_PROMETHEUS_PORT: /metrics cannot listen on ${host}:${port}: ${error.message}`)),
    );
    server.listen(port, host, () => server.close(() => resolve()));
  });

interface Started {
  readonly sdk: NodeSDK;
  readonly warnings: ExportWarnings;
}

const telemetryOf = (instruments: Instruments, { sdk, warnings }: Started): Telemetry => ({
  metrics: instruments.metrics,
  store: (store) => tracedStore(store, instruments),
  bus: (bus, system) => tracedBus(bus, instruments, system),
  runner: (runner) => tracedRunner(runner, instruments),
  http: (fastify) => traceHttp(fastify, instruments),
  project: tracedProjection(instruments),
  logFields,
  reportTo: (log) => warnings.reportTo(log),
  stop: async (withinMs) => {
    const ended = sdk.shutdown().catch((error: unknown) => warnings.say(String(error)));
    const patience = Promise.withResolvers<void>();
    const timer = setTimeout(patience.resolve, withinMs);
    await Promise.race([ended, patience.promise]);
    clearTimeout(timer);
  },
});

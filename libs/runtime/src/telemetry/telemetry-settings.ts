import { z } from 'zod';
import { type ConfigOf, parseConfig, setting } from '../settings.ts';

const optional = <Schema extends z.ZodType>(schema: Schema) => z.union([z.literal(''), schema]);

const url = optional(z.string().regex(/^https?:\/\/[^\s/]+/, 'is no http or https URL'));
const protocol = optional(z.enum(['grpc', 'http/protobuf', 'http/json']));
const whole = (min: number) => optional(z.coerce.number().int().min(min));

/** A list with commas in it; `none` stands alone. */
const exporters = <const Name extends string>(names: readonly [Name, ...Name[]]) =>
  z
    .string()
    .transform((text) => text.split(',').flatMap((each) => (each.trim() === '' ? [] : [each.trim()])))
    .pipe(z.array(z.enum([...names, 'none'])))
    .refine((list) => list.length <= 1 || !list.includes('none' as never), 'none stands alone');

/** `key=value` with commas between, as OTEL_RESOURCE_ATTRIBUTES and OTLP headers have it. */
const pairs = optional(z.string().regex(/^\s*[^=,\s]+\s*=[^,]*(,\s*[^=,\s]+\s*=[^,]*)*$/, 'is no list of key=value'));

const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

const given = <T>(key: string, schema: z.ZodType<T>, rest: { unit: string; about: string; secret?: boolean }) =>
  setting(key, { schema, fallback: '', ...rest });

/**
 * What of the environment of OpenTelemetry is looked at before anything starts; the SDK itself would only warn of values
 * that it does not know. Other OTEL_* variables go to the SDK as they are.
 */
export const telemetrySettings = {
  otelDisabled: setting('OTEL_SDK_DISABLED', {
    schema: z.enum(['true', 'false']),
    unit: 'true | false',
    fallback: 'false',
    about: 'True: no telemetry, whatever else is set.',
  }),
  otelTraces: given('OTEL_TRACES_EXPORTER', exporters(['otlp', 'console']), {
    unit: 'otlp | console | none',
    about: 'Where spans go. Unset: to OTLP when an endpoint is set, else nowhere.',
  }),
  otelMetrics: given('OTEL_METRICS_EXPORTER', exporters(['otlp', 'prometheus', 'console']), {
    unit: 'otlp | prometheus | console | none, several with commas',
    about: 'Where metrics go. Unset: to OTLP when an endpoint is set, else nowhere.',
  }),
  otelLogs: given('OTEL_LOGS_EXPORTER', exporters(['none' as string]), {
    unit: 'none',
    about: 'Logs go to stdout as JSON, with trace ids, and nowhere else.',
  }),
  otelEndpoint: given('OTEL_EXPORTER_OTLP_ENDPOINT', url, {
    unit: 'URL',
    about: 'Collector for spans and metrics; of http protocols the base of /v1/traces and /v1/metrics.',
  }),
  otelTracesEndpoint: given('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', url, { unit: 'URL', about: 'Whole URL for spans.' }),
  otelMetricsEndpoint: given('OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', url, {
    unit: 'URL',
    about: 'Whole URL for metrics.',
  }),
  otelProtocol: given('OTEL_EXPORTER_OTLP_PROTOCOL', protocol, {
    unit: 'grpc | http/protobuf | http/json',
    about: 'How the collector is spoken to; default http/protobuf.',
  }),
  otelTracesProtocol: given('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', protocol, {
    unit: 'grpc | http/protobuf | http/json',
    about: 'The same for spans alone.',
  }),
  otelMetricsProtocol: given('OTEL_EXPORTER_OTLP_METRICS_PROTOCOL', protocol, {
    unit: 'grpc | http/protobuf | http/json',
    about: 'The same for metrics alone.',
  }),
  otelHeaders: given('OTEL_EXPORTER_OTLP_HEADERS', pairs, {
    unit: 'key=value with commas between',
    about: 'Sent to the collector with every request.',
    secret: true,
  }),
  otelTimeout: given('OTEL_EXPORTER_OTLP_TIMEOUT', whole(1), { unit: 'ms', about: 'Longest export; default 10000.' }),
  prometheusHost: given('OTEL_EXPORTER_PROMETHEUS_HOST', z.string(), {
    unit: 'address',
    about: 'Where /metrics listens; default localhost.',
  }),
  prometheusPort: given('OTEL_EXPORTER_PROMETHEUS_PORT', optional(z.coerce.number().int().min(1).max(65_535)), {
    unit: 'TCP port',
    about: 'Port of /metrics; default 9464.',
  }),
  otelSampler: given('OTEL_TRACES_SAMPLER', optional(z.enum(SAMPLERS)), {
    unit: SAMPLERS.join(' | '),
    about: 'Which lineages are traced; default parentbased_always_on.',
  }),
  otelSamplerArg: given('OTEL_TRACES_SAMPLER_ARG', optional(z.coerce.number().min(0).max(1)), {
    unit: 'ratio from 0 to 1',
    about: 'For the samplers by ratio; default 1.',
  }),
  otelQueue: given('OTEL_BSP_MAX_QUEUE_SIZE', whole(1), {
    unit: 'spans',
    about: 'Most spans that wait for the collector; what comes when it is full is dropped. Default 2048.',
  }),
  otelBatch: given('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', whole(1), { unit: 'spans', about: 'Per request; default 512.' }),
  otelDelay: given('OTEL_BSP_SCHEDULE_DELAY', whole(1), {
    unit: 'ms',
    about: 'Longest wait of a span for a full request; default 5000.',
  }),
  otelExportTimeout: given('OTEL_BSP_EXPORT_TIMEOUT', whole(1), {
    unit: 'ms',
    about: 'Of one request; default 30000.',
  }),
  otelInterval: given('OTEL_METRIC_EXPORT_INTERVAL', whole(1), {
    unit: 'ms',
    about: 'Between two exports of metrics by OTLP; default 60000.',
  }),
  otelMetricTimeout: given('OTEL_METRIC_EXPORT_TIMEOUT', whole(1), { unit: 'ms', about: 'Of one; default 30000.' }),
  otelServiceName: given('OTEL_SERVICE_NAME', z.string(), {
    unit: 'name',
    about: 'Instead of the name of the service, in all that it sends.',
  }),
  otelResource: given('OTEL_RESOURCE_ATTRIBUTES', pairs, {
    unit: 'key=value with commas between',
    about: 'Added to all that it sends.',
  }),
};

export type TelemetryConfig = ConfigOf<typeof telemetrySettings>;

/** What is sent, and how. */
export interface TelemetryPlan {
  readonly traces: boolean;
  readonly metrics: boolean;
  /** Null: nobody asks. */
  readonly prometheus: { readonly host: string; readonly port: number } | null;
  readonly serviceName: string | null;
}

const wanted = (list: readonly string[], hasEndpoint: boolean): boolean =>
  list.length === 0 ? hasEndpoint : !list.includes('none');

/** @returns null when nothing is to be sent. @throws {ConfigError} with everything that does not fit */
export const telemetryPlan = (env: Readonly<Record<string, string | undefined>>): TelemetryPlan | null => {
  const config = parseConfig(telemetrySettings, env);
  if (config.otelDisabled === 'true') return null;
  const traces = wanted(config.otelTraces, `${config.otelEndpoint}${config.otelTracesEndpoint}` !== '');
  const metrics = wanted(config.otelMetrics, `${config.otelEndpoint}${config.otelMetricsEndpoint}` !== '');
  if (!traces && !metrics) return null;
  const prometheus = { host: config.prometheusHost || 'localhost', port: Number(config.prometheusPort || 9464) };
  return {
    traces,
    metrics,
    prometheus: metrics && config.otelMetrics.includes('prometheus') ? prometheus : null,
    serviceName: config.otelServiceName || null,
  };
};

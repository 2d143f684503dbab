import { describe, expect, test } from '@jest/globals';
import { telemetryPlan } from './telemetry-settings.ts';

const OTLP = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

describe('telemetry', () => {
  test.each([
    {},
    { OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none', ...OTLP },
    { OTEL_SDK_DISABLED: 'true', ...OTLP },
    { OTEL_SERVICE_NAME: 'shop', OTEL_BSP_MAX_QUEUE_SIZE: '100' },
  ])('is off with %j', (env) => expect(telemetryPlan(env)).toBeNull());

  test.each([
    [OTLP, { traces: true, metrics: true }],
    [{ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://collector:4318/v1/metrics' }, { traces: false, metrics: true }],
    [{ OTEL_TRACES_EXPORTER: 'otlp' }, { traces: true, metrics: false }],
    [
      { ...OTLP, OTEL_METRICS_EXPORTER: 'none' },
      { traces: true, metrics: false },
    ],
    [{ OTEL_METRICS_EXPORTER: 'otlp,prometheus' }, { prometheus: { host: 'localhost', port: 9464 } }],
    [
      {
        OTEL_METRICS_EXPORTER: 'prometheus',
        OTEL_EXPORTER_PROMETHEUS_HOST: '::1',
        OTEL_EXPORTER_PROMETHEUS_PORT: '9500',
      },
      { prometheus: { host: '::1', port: 9500 } },
    ],
  ])('with %j is %j', (env, plan) => expect(telemetryPlan(env)).toMatchObject(plan));

  test('that does not fit says all that is wrong, and no secret', () => {
    const env = {
      OTEL_TRACES_EXPORTER: 'zipkin',
      OTEL_METRICS_EXPORTER: 'otlp,none',
      OTEL_LOGS_EXPORTER: 'otlp',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http',
      OTEL_EXPORTER_OTLP_HEADERS: 'hush',
      OTEL_EXPORTER_PROMETHEUS_PORT: '70000',
      OTEL_TRACES_SAMPLER: 'sometimes',
      OTEL_TRACES_SAMPLER_ARG: '2',
      OTEL_BSP_MAX_QUEUE_SIZE: '0',
      OTEL_METRIC_EXPORT_INTERVAL: 'often',
      OTEL_RESOURCE_ATTRIBUTES: 'team',
      OTEL_SDK_DISABLED: 'yes',
    };
    const message = (): string => {
      try {
        return JSON.stringify(telemetryPlan(env));
      } catch (error) {
        return String(error);
      }
    };
    const lines = message().split('\n').slice(1);
    expect(lines.map((line) => line.trim().split(':')[0]).toSorted()).toEqual(Object.keys(env).toSorted());
    expect(message()).not.toContain('hush');
  });
});

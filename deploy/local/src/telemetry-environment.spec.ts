import { expect, test } from '@jest/globals';
import { withTelemetry } from './telemetry-environment.ts';

const PORT = 'OTEL_EXPORTER_PROMETHEUS_PORT';
const NONE = { orchestrator: { A: '1' }, validator: {}, executor: {} };

test.each([
  [{}, ['9464', '9465', '9466']],
  [{ [PORT]: '' }, ['9464', '9465', '9466']],
  [{ [PORT]: '7000' }, ['7000', '7001', '7002']],
])('processes on one machine have a port for Prometheus each: %j', (telemetry, ports) => {
  expect(Object.values(withTelemetry(NONE, telemetry)).map((env) => env[PORT])).toEqual(ports);
});

test('every process gets what is said of telemetry beside its own', () => {
  const { orchestrator } = withTelemetry(NONE, { OTEL_TRACES_EXPORTER: 'otlp' });
  expect(orchestrator).toEqual({ A: '1', OTEL_TRACES_EXPORTER: 'otlp', [PORT]: '9464' });
});

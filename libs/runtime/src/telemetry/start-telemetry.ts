import type { Telemetry } from './telemetry.ts';

/** Without one of these nothing is ever sent. */
const SWITCHES = [
  'OTEL_TRACES_EXPORTER',
  'OTEL_METRICS_EXPORTER',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT',
];

/**
 * To be awaited before anything else of a process is imported. Off unless the environment asks for it, and then nothing
 * of OpenTelemetry is loaded.
 * @param service name of what sends, `orchestrator`.
 * @returns null when nothing is to be sent.
 * @throws {ConfigError} for an environment that does not fit; another error when the port of Prometheus is taken.
 */
export const startTelemetry = async (
  service: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Telemetry | null> => {
  if (SWITCHES.every((key) => (env[key] ?? '') === '')) return null;
  const { telemetryPlan } = await import('./telemetry-settings.ts');
  const plan = telemetryPlan(env);
  if (plan === null) return null;
  const { startSdk } = await import('./sdk.ts');
  return startSdk(service, plan);
};

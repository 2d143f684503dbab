const PORT = 'OTEL_EXPORTER_PROMETHEUS_PORT';
/** Where Prometheus looks when nobody says otherwise. */
const FIRST_PORT = '9464';

/** The environments of processes on one machine with the variables of telemetry: each process has a port for Prometheus. */
export const withTelemetry = <Service extends string>(
  environments: Readonly<Record<Service, Readonly<Record<string, string>>>>,
  telemetry: Readonly<Record<string, string>>,
): Record<Service, Record<string, string>> => {
  const first = Number(telemetry[PORT] || FIRST_PORT);
  const each = Object.entries<Readonly<Record<string, string>>>(environments).map(([service, env], index) => [
    service,
    { ...env, ...telemetry, [PORT]: String(first + index) },
  ]);
  // The same names as before.
  return Object.fromEntries(each) as Record<Service, Record<string, string>>;
};

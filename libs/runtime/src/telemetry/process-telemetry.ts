import { startTelemetry } from './start-telemetry.ts';
import type { Telemetry } from './telemetry.ts';

/**
 * {@link startTelemetry} for the first line of a process. What does not fit in the environment is left to the configuration
 * of the service, which says it together with all else that is wrong; a port that is taken ends the process.
 */
export const processTelemetry = async (
  service: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Telemetry | null> => {
  try {
    return await startTelemetry(service, env);
  } catch (error) {
    // By name: the class would have to be imported, and nothing is to be before the telemetry.
    if (error instanceof Error && error.name === 'ConfigError') return null;
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
};

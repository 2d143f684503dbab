import { startEmbedded } from '@fixpoint/local/embedded';
import type { Installation } from '@fixpoint/local/installation';
import { startProcesses } from '@fixpoint/local/processes';
import { createLog } from '@fixpoint/runtime/log';
import { runtimeSettings, sandboxSettings } from '@fixpoint/runtime/runtime-settings';
import { parseConfig } from '@fixpoint/runtime/settings';
import type { Telemetry } from '@fixpoint/runtime/telemetry/telemetry';
import getPort from 'get-port';
import { HOST } from './before-start.ts';
import type { Context } from './context.ts';
import { EXIT, Exit } from './exit-codes.ts';

export interface LocalOptions {
  readonly processes: boolean;
  /** Absolute. */
  readonly folder: string;
  /** True: nothing is kept after it is closed. */
  readonly temporary: boolean;
  /** Of the write API (of five processes: the audit API has the next); 0 takes a free one, null a usual one if it is free. */
  readonly port: number | null;
  /** `none`: the bus is inside the process. Null: a private server. */
  readonly nats: string | null;
  readonly postgres: string | null;
  /** As in `FIXPOINT_API_KEYS`; empty: everybody on this machine may do everything. */
  readonly apiKeys: string;
  /** Of every command that runs. */
  readonly path: string;
  /** Time for the work in hand when it stops, ms. */
  readonly drainMs: number;
  /** Runs at a time. */
  readonly concurrency: number;
  onProgress(line: string): void;
  /** Models and council as in `FIXPOINT_MODELS` and `FIXPOINT_COUNCIL`; left out: the playbook, and no model. */
  readonly modelEnv?: Readonly<Record<string, string>>;
  /** Of this process; null: none. */
  readonly telemetry?: Telemetry | null;
}

/** Starts an installation on this machine: in this process, or as five. @throws {Exit} for options that do not fit */
export const startLocal = async (options: LocalOptions, { env }: Context): Promise<Installation> => {
  const { processes, nats, postgres, port, apiKeys: keyList, ...common } = options;
  if (processes && nats === 'none') {
    throw new Exit(EXIT.badInput, 'five processes meet on NATS only', 'leave --nats none or --processes out');
  }
  const { apiKeys, logLevel, sandbox } = parseConfig(SETTINGS, { ...env, FIXPOINT_API_KEYS: keyList });
  const backing = {
    ...common,
    sandbox,
    postgresUrl: postgres,
    natsUrl: nats === 'none' ? null : nats,
    withoutNats: nats === 'none',
    dockerHost: env.DOCKER_HOST ?? null,
    // The in-process bus does without a server; five processes can not, so there installing one is worth it.
    installNats: processes,
  };
  if (processes) {
    return startProcesses({
      ...backing,
      logLevel,
      ...(await processOptions(options)),
      telemetryEnv: telemetryEnvOf(env),
    });
  }
  const { telemetry = null } = options;
  const mixin = telemetry === null ? {} : { mixin: telemetry.logFields };
  const log = createLog({ name: 'fixpoint', mode: 'pretty', level: logLevel, ...mixin });
  telemetry?.reportTo(log);
  return startEmbedded({ ...backing, host: HOST, port: port ?? (await freePort(EMBEDDED_PORT)), apiKeys, log });
};

/** Taken where they are free and no other was asked for. */
const EMBEDDED_PORT = 4100;
const ORCHESTRATOR_PORT = 4101;
const AUDITOR_PORT = 4105;
const EXECUTOR_PORT = 4103;

/** A local installation speaks up about trouble only, and runs own commands with own programs on an own machine. */
const SETTINGS = {
  apiKeys: runtimeSettings.apiKeys,
  logLevel: { ...runtimeSettings.logLevel, fallback: 'warn' },
  sandbox: { ...sandboxSettings.sandbox, fallback: 'none' },
};

/** What the five processes are told of telemetry. */
const telemetryEnvOf = (env: Context['env']): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => /^OTEL_/.test(entry[0]) && entry[1] !== undefined),
  );

const freePort = (port: number): Promise<number> => getPort({ host: HOST, port });

const portsFrom = async (port: number | null) => {
  if (port === 0) return null;
  return port === null
    ? {
        orchestrator: await freePort(ORCHESTRATOR_PORT),
        auditor: await freePort(AUDITOR_PORT),
        executor: await freePort(EXECUTOR_PORT),
      }
    : { orchestrator: port, auditor: port + 1, executor: port + 2 };
};

const processOptions = async ({ port, apiKeys, onProgress }: LocalOptions) => ({
  ports: await portsFrom(port),
  logMode: 'pretty' as const,
  apiKeys,
  onExit: (service: string, how: string) => onProgress(`${service} ended (${how}) and is started again`),
});

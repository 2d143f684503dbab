import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Clock } from '@fixpoint/contracts/clock';
import { migrateInstallation } from '@fixpoint/database/migrate-installation';
import { systemClock } from '@fixpoint/runtime/system-clock';
import { publicKeysOf, type SigningKeys } from '@fixpoint/validator/token-keys';
import getPort from 'get-port';
import { type Backing, type BackingOptions, startBacking } from './backing.ts';
import type { Installation } from './installation.ts';
import { localDecisionKeys, localSigningKeys } from './local-keys.ts';
import { withModels } from './model-environment.ts';
import { type Supervised, supervise } from './supervisor.ts';
import { withTelemetry } from './telemetry-environment.ts';

const SERVICES = ['orchestrator', 'validator', 'executor', 'decomposer', 'auditor'] as const;
export type Service = (typeof SERVICES)[number];

export interface ProcessesOptions extends BackingOptions {
  readonly drainMs: number;
  readonly concurrency: number;
  /** As FIXPOINT_SANDBOX; left out: none. */
  readonly sandbox?: 'required' | 'preferred' | 'none';
  /** Ports of the APIs for writing, reading and workers; null: free ones. */
  readonly ports: { readonly orchestrator: number; readonly auditor: number; readonly executor: number } | null;
  readonly logMode: 'json' | 'pretty' | 'silent';
  /** Nothing below it is logged. */
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error' | 'fatal';
  readonly apiKeys: string;
  /** OTEL_* variables for all five; the port of Prometheus is the first one's, the others have the next ones. */
  readonly telemetryEnv?: Readonly<Record<string, string>>;
  /** `FIXPOINT_MODELS`, `FIXPOINT_COUNCIL`, and the variables that hold keys of models. */
  readonly modelEnv?: Readonly<Record<string, string>>;
  onExit(service: string, how: string): void;
}

export interface ProcessInstallation extends Installation {
  readonly services: ReadonlyMap<Service, Supervised>;
}

/** How long all five may take to say that they are ready. */
const START_MS = 60_000;
const GRACE_MS = 5_000;

/**
 * Five processes as in production, each started again when it ends; they meet on JetStream only.
 * @throws when there is no NATS, or a service is not ready within a minute; what was started is stopped.
 */
export const startProcesses = async (options: ProcessesOptions): Promise<ProcessInstallation> => {
  const backing = await startBacking(options);
  const started: Supervised[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(started.map((service) => service.stop(options.drainMs + GRACE_MS)));
    await backing.stop();
  };
  try {
    if (backing.natsUrl === null) throw new Error(`five processes need NATS with JetStream: ${backing.noNats}`);
    options.onProgress('migrating the database');
    await migrateInstallation(backing.postgresUrl);
    const ports = await portsOf(options);
    const environments = environmentsOf(backing, options, {
      ports,
      keys: await localSigningKeys(options.folder),
      decisionKeys: await localDecisionKeys(options.folder),
    });
    const services = new Map(SERVICES.map((name) => [name, startService(name, environments[name], options)]));
    started.push(...services.values());
    await allReady(ports, systemClock);
    const urlOf = (service: Service): string => `http://127.0.0.1:${ports[service]}`;
    const bus = `JetStream at ${backing.natsUrl}`;
    return {
      writeUrl: urlOf('orchestrator'),
      auditUrl: urlOf('auditor'),
      workerUrl: urlOf('executor'),
      bus,
      services,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
};

type Ports = Readonly<Record<Service, number>>;

const portsOf = async ({ ports }: ProcessesOptions): Promise<Ports> => {
  const free = async (wanted?: number): Promise<number> => wanted ?? getPort({ host: '127.0.0.1' });
  return {
    orchestrator: await free(ports?.orchestrator),
    validator: await free(),
    executor: await free(ports?.executor),
    decomposer: await free(),
    auditor: await free(ports?.auditor),
  };
};

interface Made {
  readonly ports: Ports;
  readonly keys: SigningKeys;
  readonly decisionKeys: SigningKeys;
}

const environmentsOf = (
  backing: Backing,
  options: ProcessesOptions,
  { ports, keys, decisionKeys }: Made,
): Readonly<Record<Service, Record<string, string>>> => {
  const common = {
    PATH: options.path,
    FIXPOINT_POSTGRES_URL: backing.postgresUrl,
    FIXPOINT_NATS_URL: backing.natsUrl ?? '',
    FIXPOINT_BUS_MAX_BYTES: String(256 * 1024 * 1024),
    FIXPOINT_API_KEYS: options.apiKeys,
    FIXPOINT_SANDBOX: options.sandbox ?? 'none',
    FIXPOINT_DRAIN_MS: String(options.drainMs),
    FIXPOINT_LOG: options.logMode,
    FIXPOINT_LOG_LEVEL: options.logLevel,
  };
  const publicKeys = JSON.stringify(publicKeysOf(keys).keys);
  const services: Readonly<Record<Service, Record<string, string>>> = {
    orchestrator: {
      ...common,
      FIXPOINT_ORCHESTRATOR_PORT: String(ports.orchestrator),
      FIXPOINT_DECISION_SIGNING_KEYS: JSON.stringify(decisionKeys),
      FIXPOINT_TOKEN_PUBLIC_KEYS: publicKeys,
    },
    validator: {
      ...common,
      FIXPOINT_VALIDATOR_PORT: String(ports.validator),
      FIXPOINT_TOKEN_SIGNING_KEYS: JSON.stringify(keys),
      FIXPOINT_DECISION_PUBLIC_KEYS: JSON.stringify(publicKeysOf(decisionKeys).keys),
      FIXPOINT_VALIDATOR_FOLDER: join(options.folder, 'validator'),
      FIXPOINT_VALIDATOR_LONG_CONCURRENCY: String(options.concurrency),
    },
    executor: {
      ...common,
      FIXPOINT_EXECUTOR_PORT: String(ports.executor),
      FIXPOINT_TOKEN_PUBLIC_KEYS: publicKeys,
      FIXPOINT_API_URL: `http://127.0.0.1:${ports.orchestrator}`,
      FIXPOINT_EXECUTOR_FOLDER: join(options.folder, 'executor'),
      FIXPOINT_EXECUTOR_LONG_CONCURRENCY: String(options.concurrency),
    },
    decomposer: {
      ...common,
      FIXPOINT_DECOMPOSER_PORT: String(ports.decomposer),
      FIXPOINT_DECOMPOSER_FOLDER: join(options.folder, 'decomposer'),
      FIXPOINT_DECOMPOSER_LONG_CONCURRENCY: String(options.concurrency),
    },
    auditor: { ...common, FIXPOINT_AUDITOR_PORT: String(ports.auditor) },
  };
  return withTelemetry(withModels(services, options.modelEnv ?? {}), options.telemetryEnv ?? {});
};

const startService = (name: Service, env: Record<string, string>, { onExit }: ProcessesOptions): Supervised => {
  const main = fileURLToPath(import.meta.resolve(`@fixpoint/${name}/main`));
  return supervise({ name, main, env }, { clock: systemClock, onExit });
};

const allReady = async (ports: Ports, clock: Clock): Promise<void> => {
  const until = clock.monotonicMs() + START_MS;
  for (const [service, port] of Object.entries(ports)) {
    while (!(await isReady(port))) {
      if (clock.monotonicMs() > until) throw new Error(`${service} is not ready after ${START_MS / 1000} s`);
      await clock.sleep(50);
    }
  }
};

const isReady = async (port: number): Promise<boolean> => {
  try {
    return (await fetch(`http://127.0.0.1:${port}/health/ready`, { signal: AbortSignal.timeout(2_000) })).ok;
  } catch {
    // Not listening yet.
    return false;
  }
};

import { join } from 'node:path';
import { auditorModule } from '@fixpoint/auditor/auditor.module';
import { migrateInstallation } from '@fixpoint/database/migrate-installation';
import { decomposerModule } from '@fixpoint/decomposer/decomposer.module';
import { EMBEDDED_ROLE } from '@fixpoint/event-store/roles';
import type { RunConfig } from '@fixpoint/executor/config';
import { executorModule } from '@fixpoint/executor/executor.module';
import { DEFAULT_MOST_IN_FLIGHT, orchestratorModule } from '@fixpoint/orchestrator/orchestrator.module';
import type { ApiKey } from '@fixpoint/runtime/api-keys';
import { connect } from '@fixpoint/runtime/connect';
import { infrastructureModule } from '@fixpoint/runtime/infrastructure';
import type { Log } from '@fixpoint/runtime/log';
import { start } from '@fixpoint/runtime/start';
import type { Telemetry } from '@fixpoint/runtime/telemetry/telemetry';
import { publicKeysOf } from '@fixpoint/validator/token-keys';
import { validatorModule } from '@fixpoint/validator/validator.module';
import { type Backing, type BackingOptions, startBacking } from './backing.ts';
import type { Installation } from './installation.ts';
import { localDecisionKeys, localSigningKeys } from './local-keys.ts';
import { modelsIn } from './model-environment.ts';

export interface EmbeddedOptions extends BackingOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly apiKeys: readonly ApiKey[];
  /** Time for the work in hand when it stops, ms. */
  readonly drainMs: number;
  /** Runs at a time. */
  readonly concurrency: number;
  /** `FIXPOINT_MODELS`, `FIXPOINT_COUNCIL`, and the variables that hold keys of models. */
  readonly modelEnv?: Readonly<Record<string, string>>;
  /** Of commands in modes that say nothing; left out: none. */
  readonly sandbox?: RunConfig['sandbox'];
  readonly log: Log;
  /** Null or left out: none. Whoever started it stops it. */
  readonly telemetry?: Telemetry | null;
}

/**
 * All five services in this process, each with its own reader of the bus: JetStream where there is a NATS, else a bus
 * inside the process.
 * @throws when a part can't start; everything started by then is stopped.
 */
export const startEmbedded = async (options: EmbeddedOptions): Promise<Installation> => {
  const backing = await startBacking(options);
  try {
    return await startServices(backing, options);
  } catch (error) {
    await backing.stop();
    throw error;
  }
};

const startServices = async (backing: Backing, options: EmbeddedOptions): Promise<Installation> => {
  options.onProgress('migrating the database');
  await migrateInstallation(backing.postgresUrl);
  const { log, telemetry = null } = options;
  const infrastructure = infrastructureModule(
    await connect({
      name: 'embedded',
      role: EMBEDDED_ROLE,
      postgresUrl: backing.postgresUrl,
      nats:
        backing.natsUrl === null
          ? null
          : { url: backing.natsUrl, namespace: 'fixpoint', maxBytes: 256 * 1024 * 1024, direct: true },
      log,
      telemetry,
    }),
  );
  const { host, port, apiKeys, drainMs } = options;
  const running = await start(await services(infrastructure, options), {
    http: { host, port, apiKeys },
    log,
    drainMs,
    telemetry,
  });
  if (running.url === null) throw new Error('the embedded installation has no API');
  return {
    writeUrl: running.url,
    auditUrl: running.url,
    workerUrl: running.url,
    bus: backing.natsUrl === null ? `in this process (${backing.noNats})` : `JetStream at ${backing.natsUrl}`,
    close: async () => {
      await running.close();
      await backing.stop();
    },
  };
};

/** As a command on this machine reaches it. */
const hostInUrl = (host: string): string => {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
};

/** Cached repositories of a machine that has other things to keep: a week, 20 GiB for each of the three. */
const MIRRORS = { mirrorIdleMs: 7 * 24 * 3_600_000, mirrorMaxBytes: 20 * 1024 ** 3 };

const services = async (infrastructure: ReturnType<typeof infrastructureModule>, options: EmbeddedOptions) => {
  const signingKeys = await localSigningKeys(options.folder);
  const decisionKeys = await localDecisionKeys(options.folder);
  const { path } = options;
  const { models, modelKeys, names, council } = modelsIn(options.modelEnv ?? {});
  const sandbox = { sandbox: options.sandbox ?? 'none', readable: [] };
  return [
    orchestratorModule(infrastructure, {
      ...{ mostInFlight: DEFAULT_MOST_IN_FLIGHT, decisionKeys },
      tokenKeys: publicKeysOf(signingKeys),
      models: names,
    }),
    validatorModule(infrastructure, {
      signingKeys,
      decisionKeys: publicKeysOf(decisionKeys),
      path,
      folder: join(options.folder, 'validator'),
      concurrency: 256,
      longConcurrency: options.concurrency,
      ...MIRRORS,
      ...sandbox,
    }),
    executorModule(infrastructure, {
      tokenKeys: publicKeysOf(signingKeys),
      folder: join(options.folder, 'executor'),
      concurrency: 256,
      longConcurrency: options.concurrency,
      ...MIRRORS,
      ...sandbox,
      path,
      playbooks: [],
      ...{ models, modelKeys },
      apiUrl: options.port === 0 ? null : `http://${hostInUrl(options.host)}:${options.port}`,
    }),
    decomposerModule(infrastructure, {
      folder: join(options.folder, 'decomposer'),
      longConcurrency: options.concurrency,
      ...MIRRORS,
      path,
      ...{ council, models, modelKeys },
    }),
    auditorModule(infrastructure),
  ];
};

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { examplePath } from '@fixpoint/examples/example-path';
import type { Installation } from '@fixpoint/local/installation';
import type { Telemetry } from '@fixpoint/runtime/telemetry/telemetry';
import { type Command, InvalidArgumentError } from 'commander';
import { checkStart } from '../before-start.ts';
import type { Context } from '../context.ts';
import { EXIT, Exit } from '../exit-codes.ts';
import { dataFolder, removeInstallation, writeInstallation } from '../installation-file.ts';
import { type Interruption, interruption } from '../interruption.ts';

interface UpOptions {
  readonly processes?: boolean;
  readonly port?: number;
  readonly data?: string;
  readonly nats?: string;
  readonly postgres?: string;
  readonly json?: boolean;
}

/** `fixpoint up` */
export const addUp = (program: Command, context: Context): void => {
  program
    .command('up')
    .description('run an installation here until Ctrl-C; what it stands on is started too, unless an URL is given')
    .option('--processes', 'five processes, as in production, instead of one (needs NATS)')
    .option('--port <port>', 'of the API; 0 takes a free one; of five processes, the audit API has the next', portOf)
    .option('--data <dir>', 'where everything is kept (default: .fixpoint)')
    .option('--nats <url>', 'a NATS server with JetStream that exists already, or none (FIXPOINT_NATS_URL)')
    .option('--postgres <url>', 'a Postgres database that exists already (FIXPOINT_POSTGRES_URL)')
    .option('--json', 'say with one line of JSON where it runs')
    .action(async (options: UpOptions) => {
      const interrupted = interruption();
      try {
        await up(options, context, interrupted);
      } finally {
        interrupted.release();
      }
      context.exitCode = EXIT.ok;
    });
};

const LAST_PORT = 65_535;

/** @throws {InvalidArgumentError} */
const portOf = (text: string): number => {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= LAST_PORT) return port;
  throw new InvalidArgumentError('it takes a port from 0 to 65535.');
};

/** Ctrl-C is answered within some seconds; what is cut off is offered again at the next start. */
const DRAIN_MS = 5_000;
const CONCURRENCY = 8;
/** For sending what telemetry has left. */
const FLUSH_MS = 3_000;

const up = async (options: UpOptions, context: Context, interrupted: Interruption): Promise<void> => {
  const { env, cwd, terminal } = context;
  const folder = dataFolder({ data: options.data, env, cwd });
  await checkStart({ folder, ports: portsOf(options) });
  const telemetry = await telemetryOf(options, context);
  await makeFolder(folder);
  // The services take a second to load, and no other command needs them.
  const [{ startLocal }, { modelEnvironment }] = await Promise.all([
    import('../start-local.ts'),
    import('@fixpoint/local/model-environment'),
  ]);
  const installation = await startLocal(
    {
      processes: options.processes === true,
      folder,
      temporary: false,
      port: options.port ?? null,
      nats: options.nats ?? env.FIXPOINT_NATS_URL ?? null,
      postgres: options.postgres ?? env.FIXPOINT_POSTGRES_URL ?? null,
      apiKeys: env.FIXPOINT_API_KEYS ?? '',
      path: examplePath(env.PATH),
      drainMs: DRAIN_MS,
      concurrency: CONCURRENCY,
      onProgress: (line) => terminal.note(line),
      telemetry,
      modelEnv: modelEnvironment(env),
    },
    context,
  );
  try {
    await writeInstallation(folder, {
      write_url: installation.writeUrl,
      audit_url: installation.auditUrl,
      pid: process.pid,
    });
    tell(installation, { folder, ...options }, context);
    await interrupted.happened;
    terminal.note('stopping');
    await removeInstallation(folder);
  } finally {
    await installation.close();
    await telemetry?.stop(FLUSH_MS);
  }
};

/**
 * Of this process, before anything that it may observe is imported; null when there is none, or when five processes have
 * their own: then it is only made sure that they can. @throws {ConfigError}
 */
const telemetryOf = async ({ processes }: UpOptions, { env }: Context): Promise<Telemetry | null> => {
  if (processes === true) {
    const { telemetryPlan } = await import('@fixpoint/runtime/telemetry/telemetry-settings');
    telemetryPlan(env);
    return null;
  }
  const { startTelemetry } = await import('@fixpoint/runtime/telemetry/start-telemetry');
  return startTelemetry('fixpoint', env);
};

/** The ports that were asked for by number. */
const portsOf = ({ port = 0, processes }: UpOptions): readonly number[] => {
  if (port === 0) return [];
  if (processes !== true) return [port];
  if (port + 1 < LAST_PORT) return [port, port + 1, port + 2];
  throw new Exit(
    EXIT.badInput,
    'five processes take three ports, and there are not as many after this one',
    'choose a lower --port',
  );
};

/** It may lie in somebody's repository, and is none of its business. */
const makeFolder = async (folder: string): Promise<void> => {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, '.gitignore'), '*\n');
};

const tell = (
  { writeUrl, auditUrl, workerUrl, bus }: Installation,
  { folder, processes, json }: UpOptions & { readonly folder: string },
  { terminal }: Context,
): void => {
  if (json === true) {
    terminal.json({ write_url: writeUrl, audit_url: auditUrl, worker_url: workerUrl, bus, data: folder });
    return;
  }
  const apis =
    writeUrl === auditUrl
      ? [`  api    ${writeUrl}`]
      : [`  write  ${writeUrl}`, `  audit  ${auditUrl}`, `  worker ${workerUrl}`];
  terminal.print(
    [
      `Fixpoint runs: five services in ${processes === true ? 'five processes' : 'this process'}.`,
      ...apis,
      `  bus    ${bus}`,
      `  data   ${folder}`,
      'Ctrl-C stops it.',
    ].join('\n'),
  );
};

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startNats } from '@fixpoint/backing-services/nats';
import { startPostgres } from '@fixpoint/backing-services/postgres';
import { type Client as FixpointClient, fixpointClient } from '@fixpoint/client/client';
import { startEmbedded } from '@fixpoint/local/embedded';
import { startProcesses } from '@fixpoint/local/processes';
import { silentLog } from '@fixpoint/runtime/log';
import type { Telemetry } from '@fixpoint/runtime/telemetry/telemetry';
import { Client } from 'pg';

export type Mode = 'embedded' | 'processes';

/** An installation with servers of its own, which the measurement may look into. */
export interface MeasuredInstallation {
  readonly client: FixpointClient;
  readonly postgresUrl: string;
  readonly natsUrl: string;
  /** Processes of the five services; this one where they are embedded. */
  pids(): readonly number[];
  readonly servers: ServerPids;
  close(): Promise<void>;
}

/** Null where a server is not a process of this machine that was started here. */
export interface ServerPids {
  readonly postgres: number | null;
  readonly nats: number | null;
}

export interface MeasuredOptions {
  /** Of the environment; where `nats-server` and git are. */
  readonly path: string;
  readonly dockerHost: string | null;
  /** Of this process, for embedded services; null: none. */
  readonly telemetry: Telemetry | null;
  /** OTEL_* variables, for services in processes of their own. */
  readonly telemetryEnv: Readonly<Record<string, string>>;
  onProgress(line: string): void;
}

const HOST = '127.0.0.1';
const CONCURRENCY = 64;

/** Starts Postgres, NATS and the five services, all empty and only for this measurement. */
export const startMeasured = async (mode: Mode, options: MeasuredOptions): Promise<MeasuredInstallation> => {
  const folder = await mkdtemp(join(tmpdir(), 'fixpoint-bench-'));
  const started: (() => Promise<void>)[] = [() => rm(folder, { recursive: true, force: true })];
  const close = async (): Promise<void> => {
    for (const stop of started.toReversed()) await stop();
  };
  try {
    const servers = await startServers(folder, options, started);
    const common = { ...options, ...servers, folder: join(folder, 'installation'), ...FIXED };
    const { installation, pids } = mode === 'embedded' ? await embedded(common) : await processes(common);
    started.push(() => installation.close());
    const pidsOfServers = { postgres: await postmaster(servers.postgresUrl), nats: await pidIn(join(folder, 'nats')) };
    return {
      client: fixpointClient({ ...installation, apiKey: null }),
      ...servers,
      pids,
      servers: pidsOfServers,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
};

/** Parent of the process that serves a connection. */
const postmaster = async (url: string): Promise<number | null> => {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const status = await readFile(`/proc/${rows[0]?.pid}/status`, 'utf8').catch(() => '');
    const [, parent] = /^Name:\s+postgres$[\s\S]*^PPid:\s+(\d+)$/m.exec(status) ?? [];
    return parent === undefined ? null : Number(parent);
  } finally {
    await client.end();
  }
};

/** A private NATS writes down who it is. */
const pidIn = async (folder: string): Promise<number | null> => {
  const text = await readFile(join(folder, 'server.json'), 'utf8').catch(() => null);
  return text === null ? null : (JSON.parse(text) as { server: number }).server;
};

const FIXED = {
  temporary: true,
  withoutNats: false,
  installNats: false,
  drainMs: 5_000,
  concurrency: CONCURRENCY,
} as const;

const startServers = async (
  folder: string,
  { path, dockerHost, onProgress }: MeasuredOptions,
  started: (() => Promise<void>)[],
) => {
  const common = { temporary: true, url: null, dockerHost, onProgress };
  const postgres = await startPostgres({ ...common, folder: join(folder, 'postgres') });
  started.push(() => postgres.stop());
  const nats = await startNats({ ...common, path, folder: join(folder, 'nats'), install: true, port: null });
  if (nats.kind === 'none') throw new Error(`the measurement needs NATS with JetStream: ${nats.reason}`);
  started.push(() => nats.stop());
  return { postgresUrl: postgres.url, natsUrl: nats.url };
};

type Start = MeasuredOptions &
  typeof FIXED & { readonly folder: string; readonly postgresUrl: string; readonly natsUrl: string };

const embedded = async (common: Start) => {
  const installation = await startEmbedded({ ...common, host: HOST, port: 0, apiKeys: [], log: silentLog });
  return { installation, pids: () => [process.pid] };
};

const processes = async (common: Start) => {
  const installation = await startProcesses({
    ...common,
    ports: null,
    logMode: 'silent',
    logLevel: 'fatal',
    apiKeys: '',
    onExit: (service, how) => common.onProgress(`${service} ended: ${how}`),
  });
  const pids = () => [...installation.services.values()].flatMap((service) => service.pid() ?? []);
  return { installation, pids };
};

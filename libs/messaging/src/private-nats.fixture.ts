import { randomUUID } from 'node:crypto';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type NatsOptions, type NatsServer, startNats } from '@fixpoint/backing-services/nats';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { type JetStreamBus, type JetStreamBusOptions, jetstreamBus } from './jetstream-bus.ts';
import { realClock } from './messaging.fixture.ts';

/** A server of a spec's own, on one port as long as it lives. */
export interface PrivateNats {
  readonly url: string;
  /** Its folder; streams are below `store`. */
  readonly folder: string;
  /** Of the server that runs now. */
  pid(): Promise<number>;
  /** Stops it, waits for what is done meanwhile, and starts it again. */
  bounce(whileAway?: () => Promise<void>): Promise<void>;
  /** Keeps a copy of what it has stored. It must be stopped. */
  backUp(): Promise<void>;
  /** Puts the copy in the place of what it has stored. It must be stopped. */
  restore(): Promise<void>;
  /** Removes all it has stored. It must be stopped. */
  wipe(): Promise<void>;
  /** A connection for one purpose. */
  withConnection<T>(use: (connection: NatsConnection) => Promise<T>): Promise<T>;
  /** Stops it for good and removes its folder. */
  remove(): Promise<void>;
}

/** @param path where `nats-server` is looked for. */
export const privateNats = async (path: string): Promise<PrivateNats> => {
  const folder = await mkdtemp(join(tmpdir(), 'fixpoint-jetstream-spec-'));
  const [store, copy] = [join(folder, 'store'), join(folder, 'copy')];
  let server = await start({ folder, path, port: null });
  const { url } = server;
  return {
    url,
    folder,
    pid: async () => JSON.parse(await readFile(join(folder, 'server.json'), 'utf8')).server,
    bounce: async (whileAway = () => Promise.resolve()) => {
      await server.stop();
      await whileAway();
      server = await start({ folder, path, port: Number(URL.parse(url)?.port) });
    },
    backUp: async () => {
      await rm(copy, { recursive: true, force: true });
      await cp(store, copy, { recursive: true });
    },
    restore: async () => {
      await rm(store, { recursive: true, force: true });
      await cp(copy, store, { recursive: true });
    },
    wipe: () => rm(store, { recursive: true, force: true }),
    withConnection: async (use) => {
      const connection = await connect({ servers: url });
      try {
        return await use(connection);
      } finally {
        await connection.close();
      }
    },
    remove: async () => {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

/** A bus on it that is silent about its troubles and tries again soon. */
export const busOn = (nats: Pick<PrivateNats, 'url'>, rest: Partial<JetStreamBusOptions> = {}): JetStreamBus =>
  jetstreamBus({
    url: nats.url,
    name: 'spec',
    namespace: `spec-${randomUUID()}`,
    maxBytes: 8 * 1024 * 1024,
    clock: realClock,
    report: () => undefined,
    spread: () => false,
    load: () => Promise.reject(new Error('nothing to load')),
    failureDelayMs: () => 50,
    ...rest,
  });

const start = async (place: Pick<NatsOptions, 'folder' | 'path' | 'port'>): Promise<NatsServer> => {
  const rest = { url: null, dockerHost: null, install: true, temporary: false, onProgress: () => undefined };
  const started = await startNats({ ...place, ...rest });
  if (started.kind === 'none') throw new Error(started.reason);
  return started;
};

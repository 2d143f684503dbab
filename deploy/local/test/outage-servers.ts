import { readFile } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type NatsServer, startNats } from '@fixpoint/backing-services/nats';
import { startPostgres } from '@fixpoint/backing-services/postgres';
import getPort from 'get-port';

/** A server of the spec's own, under an address that stays the same while it comes and goes. */
export interface OutageServer {
  readonly url: string;
  start(): Promise<void>;
  /** Graceful; what it stored stays. */
  stop(): Promise<void>;
  /** Stops it for good and removes what it stored. */
  remove(): Promise<void>;
}

export interface OutageNats extends OutageServer {
  /** SIGKILL, and all that it stored is gone. */
  destroy(): Promise<void>;
  /** SIGSTOP for so long: its connections stay open and say nothing. */
  freeze(ms: number): Promise<void>;
}

const quiet = (): void => undefined;

/** @param folder absolute. Not started yet. */
export const outageNats = async (folder: string, path: string): Promise<OutageNats> => {
  const port = await getPort({ host: '127.0.0.1' });
  const options = {
    url: null,
    dockerHost: null,
    path,
    install: true,
    folder,
    temporary: true,
    port,
    onProgress: quiet,
  };
  let server: NatsServer | null = null;
  const pid = async (): Promise<number> => JSON.parse(await readFile(join(folder, 'server.json'), 'utf8')).server;
  const stop = async (): Promise<void> => {
    await server?.stop();
    server = null;
  };
  return {
    url: `nats://127.0.0.1:${port}`,
    start: async () => {
      const started = await startNats(options);
      if (started.kind === 'none') throw new Error(started.reason);
      server = started;
    },
    stop,
    remove: stop,
    destroy: async () => {
      process.kill(await pid(), 'SIGKILL');
      await stop();
    },
    freeze: async (ms) => {
      const frozen = await pid();
      process.kill(frozen, 'SIGSTOP');
      await sleep(ms);
      process.kill(frozen, 'SIGCONT');
    },
  };
};

/** A private Postgres takes a new port at every start, so a gate with a fixed one stands before it. Started. */
export const outagePostgres = async (folder: string): Promise<OutageServer> => {
  const gate = new Gate(await getPort({ host: '127.0.0.1' }));
  const options = { url: null, dockerHost: null, folder, onProgress: quiet };
  let server = await startPostgres({ ...options, temporary: false });
  const url = new URL(server.url);
  await gate.open(Number(url.port));
  url.port = String(gate.port);
  return {
    url: url.href,
    start: async () => {
      server = await startPostgres({ ...options, temporary: false });
      await gate.open(Number(new URL(server.url).port));
    },
    stop: async () => {
      await gate.close();
      await server.stop();
    },
    remove: async () => {
      await gate.close();
      await server.stop();
      await (await startPostgres({ ...options, temporary: true })).stop();
    },
  };
};

/** Passes bytes on to another port while it is open; refuses connections while it is not. */
class Gate {
  readonly port: number;
  #server: Server | null = null;
  readonly #sockets = new Set<Socket>();

  constructor(port: number) {
    this.port = port;
  }

  async open(target: number): Promise<void> {
    const server = createServer((near) => this.#join(near, connect({ host: '127.0.0.1', port: target })));
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(this.port, '127.0.0.1', resolve);
    });
  }

  async close(): Promise<void> {
    const server = this.#server;
    if (server === null) return;
    this.#server = null;
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #join(near: Socket, far: Socket): void {
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(socket);
      socket.pipe(other);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
  }
}

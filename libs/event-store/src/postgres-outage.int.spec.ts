import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@fixpoint/backing-services/postgres';
import type { PostgresServer } from '@fixpoint/backing-services/postgres-server';
import { CURSOR_START } from '@fixpoint/contracts/envelope';
import { allVisible } from '@fixpoint/testing/all-visible';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Kysely } from 'kysely';
import { migrate } from './migrate.ts';
import { PostgresEventStore } from './postgres-event-store.ts';
import { type Projection, ProjectionRunner } from './projection.ts';
import { roleDatabase } from './role-database.ts';
import { appendOf } from './store-events.fixture.ts';

// A busy disk can hold a commit up for seconds.
jest.setTimeout(30_000);

/** One address for a server that gets another port at each start. */
class Front {
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;
  private target = 0;

  constructor() {
    this.server = createServer((client) => {
      const upstream = connect(this.target, '127.0.0.1');
      for (const socket of [client, upstream]) {
        this.sockets.add(socket);
        socket.on('error', () => undefined);
        socket.on('close', () => {
          client.destroy();
          upstream.destroy();
          this.sockets.delete(socket);
        });
      }
      client.pipe(upstream).pipe(client);
    });
  }

  async open(target: number): Promise<number> {
    this.target = target;
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return (this.server.address() as AddressInfo).port;
  }

  aim(target: number): void {
    this.target = target;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

describe('a Postgres that goes away', () => {
  let folder: string;
  let server: PostgresServer;
  let front: Front;
  let port: number;
  let store: PostgresEventStore;
  let db: Kysely<never>;

  const start = () =>
    startPostgres({ url: null, dockerHost: null, folder, temporary: false, onProgress: () => undefined });
  const stopServer = () => server.stop();
  const startServer = async (): Promise<void> => {
    server = await start();
    front.aim(Number(new URL(server.url).port));
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fixpoint-outage-'));
    server = await start();
    front = new Front();
    port = await front.open(Number(new URL(server.url).port));
    const url = Object.assign(new URL(server.url), { port: String(port) }).href;
    await migrate({ url, sources: [], eventTypes: [{ type: 'task_submitted', owner: 'orchestrator' }] });
    const options = {
      url,
      role: 'fixpoint_embedded',
      applicationName: 'fixpoint spec',
      connectTimeoutMs: 2_000,
    } as const;
    store = new PostgresEventStore(options);
    db = roleDatabase(options, 1);
  }, 60_000);
  afterAll(async () => {
    await Promise.all([store.close(), db.destroy()]);
    await front.close();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });

  test('fails what runs on it with its address, and serves again as soon as it is back', async () => {
    const seen: string[] = [];
    const projection: Projection<never> = {
      name: 'spec__outage',
      schema: 'store',
      tables: [],
      apply: (_target, events) => {
        seen.push(...events.map(({ stream }) => stream));
        return Promise.resolve();
      },
    };
    const runner = new ProjectionRunner({ db, store, projection, owner: 'spec' });
    await store.append(appendOf('before', 0, 'a'));
    await allVisible(store);
    await runner.catchUp();

    await stopServer();
    const address = `Postgres at 127.0.0.1:${port}/fixpoint: `;
    await expect(store.append(appendOf('meanwhile', 0, 'a'))).rejects.toThrow(address);
    await expect(store.readStream('before')).rejects.toThrow(address);
    await expect(store.readAll(CURSOR_START, 10)).rejects.toThrow(address);
    await expect(store.assertUsable(300)).rejects.toThrow(address);
    await expect(runner.catchUp()).rejects.toThrow();

    const usable = store.assertUsable(30_000);
    await startServer();
    await usable;
    expect(await store.append(appendOf('after', 0, 'a'))).toMatchObject({ outcome: 'appended' });
    expect((await store.readStream('before')).map(({ version }) => version)).toEqual([1]);
    await allVisible(store);
    await runner.catchUp();
    expect(seen).toEqual(['before', 'after']);
  }, 60_000);

  test('never loses an append it confirmed, and never stores half of one', async () => {
    const confirmed: string[] = [];
    const appendOne = async (stream: string): Promise<void> => {
      const outcome = await store.append(appendOf(stream, 0, 'a', 'b')).catch(() => null);
      if (outcome?.outcome === 'appended') confirmed.push(stream);
    };
    const round = (name: number): string[] => Array.from({ length: 8 }, (_, writer) => `w-${name}-${writer}`);
    const rounds = Array.from({ length: 60 }, (_, name) => round(name));
    let restarted = Promise.resolve();
    for (const [name, streams] of rounds.entries()) {
      const writing = Promise.all(streams.map(appendOne));
      if (name === 20) restarted = stopServer().then(startServer);
      await writing;
    }
    await restarted;
    await store.assertUsable(30_000);
    const stored = await store.readStreams(rounds.flat());
    expect(confirmed.length).toBeGreaterThanOrEqual(160);
    expect(confirmed.length).toBeLessThan(480);
    for (const stream of confirmed) expect(stored.get(stream)).toHaveLength(2);
    for (const events of stored.values()) expect([0, 2]).toContain(events.length);
  }, 60_000);
});

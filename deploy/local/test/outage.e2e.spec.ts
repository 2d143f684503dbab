import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrateInstallation } from '@fixpoint/database/migrate-installation';
import { examples } from '@fixpoint/examples/examples';
import { type ExampleRun, runExample } from '@fixpoint/examples/run-example';
import { eventually } from '@fixpoint/testing/eventually';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import getPort from 'get-port';
import { fedIds, storedIds } from './fed-ids.ts';
import { type HeldTask, heldTask } from './held-task.ts';
import { type RunningInstallation, startInstallation } from './installation.ts';
import { type OutageNats, type OutageServer, outageNats, outagePostgres } from './outage-servers.ts';
import { type ServiceProgram, startService } from './service-program.ts';

const LONG_MS = 120_000;
const FROZEN_MS = 15_000;
/** A start gives up after 30 s without Postgres. */
const PATIENCE_MS = 45_000;

let folder: string;
let postgres: OutageServer;
let nats: OutageNats;
/** Started at once: it takes half a minute to give up. */
let hopeless: Hopeless;

interface Hopeless {
  readonly address: string;
  readonly ended: Promise<{ readonly program: ServiceProgram; readonly tookMs: number }>;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fixpoint-outage-'));
  postgres = await outagePostgres(join(folder, 'postgres'));
  await migrateInstallation(postgres.url);
  await postgres.stop();
  nats = await outageNats(join(folder, 'nats'), process.env.PATH ?? '');
  hopeless = await startHopeless();
}, LONG_MS);

afterAll(async () => {
  await nats.remove();
  await postgres.remove();
  await rm(folder, { recursive: true, force: true });
}, LONG_MS);

const orchestrator = async (postgresUrl: string) => {
  const port = await getPort({ host: '127.0.0.1' });
  const program = startService('orchestrator', {
    FIXPOINT_POSTGRES_URL: postgresUrl,
    FIXPOINT_NATS_URL: nats.url,
    FIXPOINT_ORCHESTRATOR_PORT: String(port),
  });
  return { program, url: `http://127.0.0.1:${port}` };
};

const startHopeless = async (): Promise<Hopeless> => {
  const address = `127.0.0.1:${await getPort({ host: '127.0.0.1' })}`;
  const startedAt = performance.now();
  const { program } = await orchestrator(`postgres://fixpoint:a-secret@${address}/fixpoint`);
  const ended = program.ended().then(() => ({ program, tookMs: performance.now() - startedAt }));
  return { address, ended };
};

/** The status that a health endpoint answers; 0 when nobody does. */
const statusOf = async (url: string, kind: 'live' | 'ready'): Promise<number> => {
  const answer = await fetch(`${url}/health/${kind}`).catch(() => null);
  return answer?.status ?? 0;
};
const isReady = async (url: string): Promise<boolean> => (await statusOf(url, 'ready')) === 200;

const endedBy = async (program: ServiceProgram): Promise<void> => {
  program.signal('SIGTERM');
  expect(await program.ended()).toBe(0);
};

describe('down at start', () => {
  test(
    'Postgres and NATS: the process waits for both, says where it looks, and works when they come',
    async () => {
      const { program, url } = await orchestrator(postgres.url);
      await eventually('it has started', () => program.log().includes('"starting"'));
      expect(await statusOf(url, 'live')).toBe(0);
      await postgres.start();
      const address = nats.url.replace('nats://', '');
      await eventually('it says that NATS is away', () => program.log().includes(address), PATIENCE_MS);
      await eventually('it lives', async () => (await statusOf(url, 'live')) === 200);
      expect(await statusOf(url, 'ready')).toBe(503);
      await nats.start();
      await eventually('it is ready', () => isReady(url));
      await endedBy(program);
    },
    LONG_MS,
  );
});

describe('away in the middle', () => {
  let installation: RunningInstallation;
  beforeAll(async () => {
    installation = await startInstallation({ postgresUrl: postgres.url, natsUrl: nats.url });
  }, LONG_MS);
  afterAll(() => installation.stop(), LONG_MS);

  const chosen = examples.filter(({ name }) => /format-and-lint|deeper/.test(name));

  /** Starts examples, and a command that runs until it is let go; resolves when all have begun. */
  const begun = async (
    name: string,
  ): Promise<{ done: Promise<readonly ExampleRun[]>; held: HeldTask; lineage: string }> => {
    const { client, path, workerUrl } = installation;
    const held = await heldTask(installation.folder, `held-${name.toLowerCase()}`);
    const { lineage } = await client.submit({ document: held.document });
    const options = { client, path, workerUrl, folder: join(installation.folder, name), timeoutMs: LONG_MS };
    const all = chosen.map((example) => {
      const { promise, resolve } = Promise.withResolvers<string>();
      return { submitted: promise, run: runExample(example, { ...options, onSubmitted: (_, id) => resolve(id) }) };
    });
    const lineages = await Promise.all(all.map(({ submitted }) => submitted));
    await held.started();
    for (const each of lineages) {
      await eventually('the examples run', async () => (await client.runs({ lineage: each })).items.length > 0);
    }
    return { done: Promise.all(all.map(({ run }) => run)), held, lineage };
  };

  test.each<[string, string, () => Promise<void>]>([
    [
      'B1',
      'Postgres is stopped and started again',
      async () => {
        await postgres.stop();
        await eventually('the auditor says so', async () => !(await isReady(installation.auditUrl)));
        await eventually('the orchestrator says so', async () => !(await isReady(installation.writeUrl)));
        await postgres.start();
      },
    ],
    [
      'N1, N2',
      'NATS is killed and comes back with nothing stored',
      async () => {
        await nats.destroy();
        await eventually('the orchestrator says so', async () => !(await isReady(installation.writeUrl)));
        await nats.start();
      },
    ],
    ['B22', 'NATS is frozen for a while', () => nats.freeze(FROZEN_MS)],
  ])(
    '%s %s: everything goes on by itself and nothing is a dead letter',
    async (id, _name, outage) => {
      const { done, held, lineage } = await begun(id.replace(', ', '-'));
      await outage();
      const over = performance.now();
      await held.release();
      const surprises = (await done).flatMap((run) => run.surprises.map((each) => `${run.example.name}: ${each}`));
      expect(surprises).toEqual([]);
      expect((await installation.client.waitForEnd(lineage, LONG_MS)).lineage?.status).toBe('completed');
      process.stderr.write(`${id}: everything ended ${Math.round(performance.now() - over)} ms after the outage\n`);
      expect((await installation.client.events({ type: 'dead_lettered' })).items).toEqual([]);
      await eventually('every process is ready', () => isReady(installation.writeUrl));
      await eventually('the feed has everything, in the order of the store', async () => {
        const [stored, fed] = [await storedIds(postgres.url), await fedIds(nats.url)];
        return stored.length > 0 && JSON.stringify(fed) === JSON.stringify(stored);
      });
    },
    2 * LONG_MS,
  );
});

describe('never there', () => {
  test('Postgres: the process ends after half a minute and names the address it tried', async () => {
    const { program, tookMs } = await hopeless.ended;
    expect(program.exitCode()).toBe(1);
    expect(tookMs).toBeLessThan(PATIENCE_MS);
    expect(program.log()).toContain(hopeless.address);
    expect(program.log()).not.toContain('a-secret');
  }, 60_000);
});

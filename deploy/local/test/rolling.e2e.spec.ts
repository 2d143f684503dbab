import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { eventually } from '@fixpoint/testing/eventually';
import { type TestDatabase, testDatabase } from '@fixpoint/testing/test-database';
import { publicKeysOf, signingKeysSchema } from '@fixpoint/validator/token-keys';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { fedIds, storedIds } from './fed-ids.ts';
import { heldTask } from './held-task.ts';
import { type RunningInstallation, type Service, startInstallation } from './installation.ts';
import { type ServiceProgram, startService } from './service-program.ts';

const LONG_MS = 120_000;
/** Runs at a time in each of two executors. */
const CONCURRENCY = 2;
/** Well below the 10 s after which the broker itself would give a message to somebody else. */
const PROMPT_MS = 5_000;

let database: TestDatabase;
let installation: RunningInstallation;
const started: ServiceProgram[] = [];

beforeAll(async () => {
  database = await testDatabase();
  installation = await startInstallation({ postgresUrl: database.url, concurrency: CONCURRENCY });
}, LONG_MS);

afterAll(async () => {
  for (const program of started) program.signal('SIGKILL');
  await installation.stop();
  await database.close();
}, LONG_MS);

const natsUrl = (): string => /nats:\S+/.exec(installation.bus)?.[0] ?? '';

/** A second process of a service, with everything of its own but the database and the broker. Ready. */
const startOld = async (service: Service): Promise<ServiceProgram> => {
  const file = await readFile(join(installation.folder, 'token-signing-keys.json'), 'utf8');
  const keys = signingKeysSchema.parse(JSON.parse(file));
  const prefix = `FIXPOINT_${service.toUpperCase()}`;
  const program = startService(service, {
    FIXPOINT_POSTGRES_URL: database.url,
    FIXPOINT_NATS_URL: natsUrl(),
    FIXPOINT_TOKEN_SIGNING_KEYS: JSON.stringify(keys),
    FIXPOINT_TOKEN_PUBLIC_KEYS: JSON.stringify(publicKeysOf(keys).keys),
    [`${prefix}_FOLDER`]: join(installation.folder, `old-${service}`),
    [`${prefix}_CONCURRENCY`]: String(CONCURRENCY),
    [`${prefix}_PORT`]: '0',
    FIXPOINT_DRAIN_MS: '4000',
    // Held commands are told to go on by a file outside of their workspace, as those of the installation are.
    FIXPOINT_SANDBOX: 'none',
  });
  started.push(program);
  await eventually(`the old ${service} is ready`, () => program.log().includes('"ready"'));
  return program;
};

const ownersOf = async (lineage: string): Promise<readonly string[]> => {
  const { items } = await installation.client.events({ lineage, type: 'action_started' });
  return items.map(({ data }) => (data as { owner: string }).owner);
};

describe('an executor that is replaced by another', () => {
  test(
    'B2 every task progresses while the old one stops',
    async () => {
      const { client, folder } = installation;
      const old = await startOld('executor');
      const names = Array.from({ length: 2 * CONCURRENCY }, (_, n) => `held-${n}`);
      const tasks = await Promise.all(
        names.map(async (name) => {
          const held = await heldTask(folder, name);
          return { held, ...(await client.submit({ document: held.document })) };
        }),
      );
      await Promise.all(tasks.map(({ held }) => held.started()));
      const owners = (await Promise.all(tasks.map(({ lineage }) => ownersOf(lineage)))).flat();
      expect(new Set(owners).size).toBe(2);

      old.signal('SIGTERM');
      expect(await old.ended()).toBe(0);
      await Promise.all(tasks.map(({ held }) => held.release()));
      const ends = await Promise.all(tasks.map(({ lineage }) => client.waitForEnd(lineage, LONG_MS)));
      expect(ends.map(({ lineage }) => lineage?.status)).toEqual(tasks.map(() => 'completed'));
      const all = await Promise.all(tasks.map(({ lineage }) => ownersOf(lineage)));
      expect(all.map((each) => each.length).sort()).toEqual([1, 1, 2, 2]);
      expect((await client.events({ type: 'dead_lettered' })).items).toEqual([]);
    },
    LONG_MS,
  );

  test(
    'B6 what comes after the stop starts elsewhere at once',
    async () => {
      const { client } = installation;
      const old = await startOld('executor');
      old.signal('SIGTERM');
      await eventually('it stops', () => old.log().includes('"stopping"'));
      const document = 'kind: task/v1\nname: next\nproject: e2e\ngoal: It ran\nrecipe: { command: "true" }\n';
      const submitted = await Promise.all(Array.from({ length: 6 }, () => client.submit({ document })));
      for (const { lineage } of submitted) {
        await client.waitForEnd(lineage, LONG_MS);
        const { items } = await client.events({ lineage });
        const at = (type: string): number => Date.parse(items.find((each) => each.type === type)?.occurred_at ?? '');
        expect(at('action_started') - at('governance_passed')).toBeLessThan(PROMPT_MS);
      }
      expect(await old.ended()).toBe(0);
    },
    LONG_MS,
  );
});

const document = (name: string): string =>
  `kind: task/v1\nname: ${name}\nproject: e2e\ngoal: It ran\nrecipe: { command: "true" }\n`;

const LANES = 3;

/** Keeps some tasks under way, each followed by another, until it is told to stop. */
const load = () => {
  const { client } = installation;
  const ends: (string | undefined)[] = [];
  let isOver = false;
  const lane = async (): Promise<void> => {
    while (!isOver) {
      const { lineage } = await client.submit({ document: document('load') });
      ends.push((await client.waitForEnd(lineage, LONG_MS)).lineage?.status);
    }
  };
  const lanes = Promise.all(Array.from({ length: LANES }, lane));
  return {
    ends,
    stop: async (): Promise<void> => {
      isOver = true;
      await lanes;
    },
  };
};

describe('F14 a process that is asked to stop under load', () => {
  const signals: Readonly<Record<Service, 'SIGTERM' | 'SIGINT'>> = {
    ...{ orchestrator: 'SIGTERM', validator: 'SIGINT', executor: 'SIGTERM', decomposer: 'SIGINT', auditor: 'SIGTERM' },
  };

  test(
    'of each service exits 0 in its time, and every task comes to its end beside it',
    async () => {
      const services = Object.keys(signals) as Service[];
      const olds = await Promise.all(services.map(async (service) => ({ service, old: await startOld(service) })));
      const { ends, stop } = load();
      await eventually('tasks come to their end', () => ends.length >= 2 * LANES);
      for (const { service, old } of olds) old.signal(signals[service]);
      const codes = await Promise.all(olds.map(async ({ service, old }) => [service, await old.ended()]));
      expect(codes).toEqual(services.map((service) => [service, 0]));
      const before = ends.length;
      await eventually('tasks come to their end behind them', () => ends.length >= before + 2 * LANES);
      await stop();
      expect(new Set(ends)).toEqual(new Set(['completed']));
      expect((await installation.client.events({ type: 'dead_lettered' })).items).toEqual([]);
      await eventually('the feed has everything, in the order of the store', async () => {
        const [stored, fed] = [await storedIds(database.url), await fedIds(natsUrl())];
        return JSON.stringify(fed) === JSON.stringify(stored);
      });
    },
    LONG_MS,
  );

  test(
    'answers a request whose body was still on its way',
    async () => {
      const old = await startOld('orchestrator');
      const url = /"url":"(?<url>[^"]+)"/.exec(old.log())?.groups?.url ?? '';
      const body = JSON.stringify({ document: document('late') });
      const asked = request(`${url}/v1/tasks`, {
        method: 'POST',
        headers: {
          ...{ 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
          ...{ expect: '100-continue', connection: 'close' },
        },
      });
      const answered = once(asked, 'response');
      asked.flushHeaders();
      await once(asked, 'continue');
      asked.write(body.slice(0, 20));
      old.signal('SIGTERM');
      await eventually('it stops', () => old.log().includes('"stopping"'));
      asked.end(body.slice(20));
      const [response] = (await answered) as [IncomingMessage];
      const { lineage } = (await json(response)) as { lineage: string };
      expect(await old.ended()).toBe(0);
      expect((await installation.client.waitForEnd(lineage, LONG_MS)).lineage?.status).toBe('completed');
    },
    LONG_MS,
  );
});

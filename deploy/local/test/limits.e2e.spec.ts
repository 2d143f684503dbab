import { randomInt } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { eventually } from '@fixpoint/testing/eventually';
import { type TestDatabase, testDatabase } from '@fixpoint/testing/test-database';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Client as Postgres } from 'pg';
import { heldTask } from './held-task.ts';
import { type RunningInstallation, startInstallation } from './installation.ts';
import { processesWith } from './machine-processes.ts';

const LONG_MS = 120_000;
const MIB = 1024 * 1024;
/** A tenth of the long output. */
const WARMING = `yes 'one line of an output' | head -c ${20 * MIB}`;
const DRAIN_MS = 3_000;
/** What a stop may take beyond its drain. */
const GRACE_MS = 5_000;

let database: TestDatabase;
let postgres: Postgres;
let installation: RunningInstallation;

beforeAll(async () => {
  database = await testDatabase();
  postgres = new Postgres({ connectionString: database.url });
  await postgres.connect();
  installation = await startInstallation({ postgresUrl: database.url, drainMs: DRAIN_MS });
}, LONG_MS);

afterAll(async () => {
  await installation.stop();
  await postgres.end();
  await database.close();
}, LONG_MS);

const executor = (): number => {
  const pid = installation.pid('executor');
  if (pid === null) throw new Error('the executor does not run');
  return pid;
};

/** A field of /proc/<pid>/status in bytes: VmRSS now, VmHWM at most since {@link forgetPeak}. */
const memory = (pid: number, field: 'VmRSS' | 'VmHWM'): number => {
  const found = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(found?.[1]) * 1024;
};
const forgetPeak = (pid: number): void => writeFileSync(`/proc/${pid}/clear_refs`, '5');

const submit = async (command: string, rest = ''): Promise<string> => {
  const document = `kind: task/v1\nname: limits\nproject: e2e\ngoal: It ran\nrecipe: { command: ${JSON.stringify(command)} }\n`;
  return (await installation.client.submit({ document: document + rest })).lineage;
};

const called = async (lineage: string) => {
  const { items } = await installation.client.events({ lineage, type: 'tool_called' });
  return items[0]?.data;
};

describe('a recipe that prints', () => {
  test.each([
    ['200 MB in lines', `yes 'one line of a very long output' | head -c ${200 * MIB}`, 200 * MIB],
    ['one line of 50 MB', `head -c ${50 * MIB} /dev/zero | tr '\\0' x`, 50 * MIB],
  ])(
    'E11 %s is kept whole, and the executor grows by less than 50 MB',
    async (_name, command, bytes) => {
      const { client } = installation;
      // What a process loads, compiles and keeps for new objects by its first outputs is not what a longer one costs.
      for (let n = 0; n < 3; n += 1) await client.waitForEnd(await submit(WARMING), LONG_MS);
      const idle = memory(executor(), 'VmRSS');
      forgetPeak(executor());
      const lineage = await submit(command);
      expect((await client.waitForEnd(lineage, LONG_MS)).lineage?.status).toBe('completed');
      const grownBy = memory(executor(), 'VmHWM') - idle;

      process.stderr.write(
        `the executor grew by ${Math.round(grownBy / MIB)} MiB over ${Math.round(idle / MIB)} MiB\n`,
      );
      expect(grownBy).toBeLessThan(50_000_000);
      const data = await called(lineage);
      expect(data).toMatchObject({ stdout: { bytes, hash: expect.any(String) } });
      expect(await lengthOfOutput(data)).toBe(bytes);
    },
    LONG_MS,
  );
});

const lengthOfOutput = async (data: unknown): Promise<number> => {
  const { hash } = (data as { stdout: { hash: string } }).stdout;
  let length = 0;
  for await (const chunk of await installation.client.artifact(hash)) length += chunk.length;
  return length;
};

describe('a recipe that runs out of time', () => {
  test(
    'A time-out leaves no process of its tree alive, sessions of their own included',
    async () => {
      const nap = `sleep 600.${randomInt(1_000_000, 9_999_999)}`;
      const lineage = await submit(`sh -c '${nap} & setsid ${nap} & ${nap}'`, 'timeout: 2s\n');
      await eventually('three of them sleep', () => processesWith(nap).filter((pid) => pid > 0).length >= 3);
      await eventually('the time-out is recorded', async () => (await called(lineage)) ?? null);
      await eventually('none of them is left', () => processesWith(nap).length === 0, 5_000);
    },
    LONG_MS,
  );
});

describe('a check that can never be run', () => {
  test(
    'A15 is tried again after its back-off and not before, by the clock of the store, and then handed to a human',
    async () => {
      const { client } = installation;
      const mode = 'bounds: { indeterminate: 3 }, backoffs: { indeterminate: [1s] }';
      await client.publishProtocol(
        `kind: protocol/v1\nname: patient\nproject: patient\nmodes: { build: { ${mode} } }\n`,
      );
      const document =
        'kind: task/v1\nname: storm\nproject: patient\ngoal: It is checked\nrecipe: { command: "true" }\n';
      const postcondition = 'postcondition: { command: no-such-program-anywhere }\n';
      const { lineage } = await client.submit({ document: document + postcondition });
      const ended = await client.waitForEnd(lineage, LONG_MS);
      expect(ended.lineage).toMatchObject({ status: 'human', raw_halt_type: 'indeterminate' });

      const { rows } = await postgres.query<{ ms: number; next_at: string | null }>(
        `select extract(epoch from recorded_at)::float8 * 1000 as ms, data ->> 'next_at' as next_at from store.event
         where root = $1 and type in ('node_ready', 'run_counted') order by epoch, xid, position`,
        [lineage],
      );
      const attempts = rows.filter((_, index) => index % 2 === 0);
      expect(attempts).toHaveLength(4);
      for (const [index, { ms }] of attempts.entries()) {
        const due = rows[index * 2 - 1]?.next_at ?? '1970-01-01T00:00:00Z';
        expect(ms).toBeGreaterThanOrEqual(Date.parse(due));
        expect(ms - (attempts[index - 1]?.ms ?? 0)).toBeGreaterThanOrEqual(1_000);
      }
    },
    LONG_MS,
  );
});

describe('SIGTERM while a command runs', () => {
  test(
    'F14 the executor exits 0 in its time, the run is a fault of no consequence, and the task still completes',
    async () => {
      const { client } = installation;
      const held = await heldTask(installation.folder);
      const { lineage } = await client.submit({ document: held.document });
      const command = await held.started();
      const old = executor();
      const askedAt = performance.now();
      process.kill(old, 'SIGTERM');
      await installation.restarted('executor', old);
      expect(performance.now() - askedAt).toBeLessThan(DRAIN_MS + GRACE_MS);
      expect(installation.lastEnd('executor')).toBe('exit code 0');
      expect(processesWith('held/pids')).toEqual([]);
      const ended = await eventually('the run is over', async () => {
        const { items } = await client.events({ lineage, type: 'node_verified_action' });
        return items[0]?.data ?? null;
      });
      expect(ended).toMatchObject({ outcome: 'faulted', fault_class: 'shutdown', run: 1 });
      await held.release();
      expect((await client.waitForEnd(lineage, LONG_MS)).lineage?.status).toBe('completed');
      expect((await held.pids())[0]).toBe(command);
      expect(await held.pids()).toHaveLength(2);
    },
    LONG_MS,
  );
});

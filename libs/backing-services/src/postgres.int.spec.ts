import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { dockerAnswers } from './docker.ts';
import { startEmbeddedPostgres } from './embedded-postgres.ts';
import { startPostgres } from './postgres.ts';

const quiet = { url: null, dockerHost: null, onProgress: () => undefined };

const ask = async (url: string, sql: string): Promise<unknown[]> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
};

const isGone = (path: string): Promise<boolean> =>
  access(path).then(
    () => false,
    () => true,
  );

/** The server's own record of its process, as it stands in its folder (or where the note in the folder says). */
const serverPid = async (folder: string): Promise<number> => {
  const home = (await readFile(join(folder, 'postgres-is-in.txt'), 'utf8').catch(() => folder)).trim();
  const record: unknown = JSON.parse(await readFile(join(home, 'server.json'), 'utf8'));
  return typeof record === 'object' && record !== null && 'server' in record ? Number(record.server) : Number.NaN;
};

const ends = async (pid: number): Promise<void> => {
  for (;;) {
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (line === '') return;
    await sleep(50);
  }
};

describe('a Postgres for this process', () => {
  let base = '';
  beforeEach(async () => {
    base = await mkdtemp(join(tmpdir(), 'fixpoint-postgres-spec-'));
  });
  afterEach(async () => {
    await rm(base, { recursive: true, force: true });
  });

  test('a given URL is used as it is and not stopped', async () => {
    const server = await startPostgres({
      ...quiet,
      url: 'postgres://elsewhere/x',
      folder: join(base, 'pg'),
      temporary: true,
    });
    await server.stop();
    expect(server).toMatchObject({ url: 'postgres://elsewhere/x', kind: 'url' });
    expect(await isGone(join(base, 'pg'))).toBe(true);
  });

  test('a temporary one leaves no folder and no process, also where only root may enter', async () => {
    const folder = join(base, 'pg');
    const server = await startEmbeddedPostgres({ ...quiet, folder, temporary: true });
    const pid = await serverPid(folder);
    expect(
      await ask(
        server.url,
        "select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commits",
      ),
    ).toEqual([{ fsync: 'on', commits: 'on' }]);
    await server.stop();
    expect(await isGone(folder)).toBe(true);
    expect(await isGone(`/proc/${pid}`)).toBe(true);
  }, 60_000);

  test('a lasting one keeps its data, and starts although a lock file of a killed one is left', async () => {
    const folder = join(base, 'pg');
    const first = await startEmbeddedPostgres({ ...quiet, folder, temporary: false });
    await ask(first.url, 'create table kept as select 42 as answer');
    await first.stop();
    const home = (await readFile(join(folder, 'postgres-is-in.txt'), 'utf8').catch(() => folder)).trim();
    await writeFile(join(home, 'data', 'postmaster.pid'), `${process.pid}\n${join(home, 'data')}\n`);
    const second = await startEmbeddedPostgres({ ...quiet, folder, temporary: false });
    expect(await ask(second.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
    await second.stop();
    await rm(home, { recursive: true, force: true });
  }, 60_000);

  test('a folder in use by a live process is refused by name', async () => {
    const folder = join(base, 'pg');
    const other = spawn('sleep', ['60'], { stdio: 'ignore' });
    const server = await startEmbeddedPostgres({ ...quiet, folder, temporary: false });
    const home = (await readFile(join(folder, 'postgres-is-in.txt'), 'utf8').catch(() => folder)).trim();
    const record = JSON.parse(await readFile(join(home, 'server.json'), 'utf8'));
    await writeFile(join(home, 'server.json'), JSON.stringify({ ...record, owner: other.pid }));
    await expect(startEmbeddedPostgres({ ...quiet, folder, temporary: false })).rejects.toThrow(
      `in use: process ${other.pid}`,
    );
    other.kill('SIGKILL');
    await server.stop();
    await rm(home, { recursive: true, force: true });
  }, 60_000);

  test('when its owner is killed it stops by itself', async () => {
    const folder = join(base, 'pg');
    const owner = spawn(
      process.execPath,
      [
        '--conditions=@fixpoint/source',
        '--input-type=module',
        '--eval',
        `import { startEmbeddedPostgres } from ${JSON.stringify(join(import.meta.dirname, 'embedded-postgres.ts'))};
         await startEmbeddedPostgres({ url: null, dockerHost: null, folder: ${JSON.stringify(folder)}, temporary: false, onProgress: () => undefined });
         console.log('up');
         setInterval(() => undefined, 1_000);`,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    await once(owner.stdout, 'data');
    const pid = await serverPid(folder);
    expect(await isGone(`/proc/${pid}`)).toBe(false);
    owner.kill('SIGKILL');
    await ends(pid);
    const again = await startEmbeddedPostgres({ ...quiet, folder, temporary: true });
    expect(await ask(again.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    await again.stop();
  }, 60_000);
});

describe('looking for a Docker engine', () => {
  test('costs next to nothing where there is none', async () => {
    const began = performance.now();
    expect(await dockerAnswers(`unix://${join(tmpdir(), 'no-such.sock')}`)).toBe(false);
    expect(await dockerAnswers('tcp://127.0.0.1:1')).toBe(false);
    expect(performance.now() - began).toBeLessThan(2_000);
  });
});

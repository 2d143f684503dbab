import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Client } from 'pg';
import { commandLine } from '../command-line.fixture.ts';

const name = `fixpoint_store_${randomUUID().replaceAll('-', '')}`;
const server = process.env.POSTGRES_URL ?? '';
const url = Object.assign(new URL(server), { pathname: `/${name}` }).href;

const query = async (at: string, sql: string): Promise<void> => {
  const client = new Client({ connectionString: at });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
};

/** Runs `fixpoint store …` on the database of this spec. */
const store = (...args: string[]) => commandLine(['store', ...args], { env: { FIXPOINT_POSTGRES_URL: url } });
const storeJson = async (...args: string[]) => {
  const ran = await store(...args, '--json');
  expect(ran.stderr).toBe('');
  return { code: ran.code, answer: JSON.parse(ran.stdout) };
};

beforeAll(() => query(server, `create database ${name}`));
afterAll(() => query(server, `drop database ${name} with (force)`));

describe('fixpoint store', () => {
  test('says what to do about a database that was never migrated', async () => {
    const ran = await store('status');
    expect(ran.code).toBe(5);
    expect(ran.stderr).toMatch(/holds no event store of this release\n {2}hint: run `fixpoint store migrate`/);
  });

  test('migrate makes roles and tables, once', async () => {
    expect(await storeJson('migrate', '--roles')).toEqual({ code: 0, answer: { ran: [] } });
    const first = await storeJson('migrate');
    expect(first.code).toBe(0);
    expect(first.answer.ran).toEqual(
      expect.arrayContaining(['event-store/0001_create_event_log', 'auditor/0001_create_read_model']),
    );
    expect(await store('migrate')).toEqual({ code: 0, stdout: 'nothing to do\n', stderr: '' });
  });

  test('status tells of an empty store', async () => {
    const { code, answer } = await storeJson('status');
    expect(code).toBe(0);
    expect(answer).toMatchObject({ usable: true, epoch: 1, newest: null, readers: [], watermark: { age_ms: 0 } });
    expect(answer.written_on).toEqual(answer.found_on);
    expect((await store('status')).stdout).toMatch(/^epoch {6}1, server \d+, timeline \d+\nnewest {5}no event yet/);
  });

  test('new-epoch is not for a store that is where it was written', async () => {
    const ran = await store('new-epoch');
    expect(ran.code).toBe(5);
    expect(ran.stderr).toContain('epoch 1 was written on this very server');
    expect(ran.stderr).toContain('--on-same-server');
  });

  test('a store from elsewhere is refused until new-epoch, which can be tried first', async () => {
    await query(url, `update store.identity set system_identifier = '42'`);
    const refused = await store('status');
    expect(refused.code).toBe(5);
    expect(refused.stdout).toMatch(/REFUSED .*`fixpoint store new-epoch`/);
    expect(await storeJson('new-epoch', '--dry-run')).toMatchObject({ code: 0, answer: { dry_run: true, epoch: 2 } });
    expect((await storeJson('status')).code).toBe(5);
    const { answer } = await storeJson('new-epoch', '--reason', 'moved to another machine');
    expect(answer).toMatchObject({ dry_run: false, epoch: 2, before: { epoch: 1, system_identifier: '42' } });
    const after = await storeJson('status');
    expect(after.code).toBe(0);
    expect(after.answer.epochs[1]).toMatchObject({ epoch: 2, reason: 'moved to another machine' });
  });

  test('a projection that is ahead of the log is to be rebuilt; a reader without tables is only put back', async () => {
    const ahead = `insert into store.checkpoint (name, epoch, xid, position, owner, fence, lease_until) values
      ('auditor__read_model', 1, '900', 9, '', 1, '-infinity'), ('auditor__feed', 1, '900', 9, '', 1, '-infinity')`;
    await query(url, ahead);
    await query(url, `update store.identity set system_identifier = '43'`);
    const { answer } = await storeJson('new-epoch', '--dry-run');
    expect(answer.readers).toEqual([
      { name: 'auditor__feed', from: '1.900.9', to: '0.0.0', put_back: true, rebuild: false },
      { name: 'auditor__read_model', from: '1.900.9', to: '0.0.0', put_back: true, rebuild: true },
    ]);
    expect((await store('new-epoch')).stdout).toContain('run `fixpoint projections rebuild auditor__read_model`');
  });

  test.each([
    ['no database', {}, 2, 'give --postgres or FIXPOINT_POSTGRES_URL'],
    ['something else', { FIXPOINT_POSTGRES_URL: 'http://me:secret@here' }, 2, 'not a postgres:// URL'],
    ['one that nobody serves', { FIXPOINT_POSTGRES_URL: 'postgres://me:secret@127.0.0.1:1/x' }, 6, 'ECONNREFUSED'],
  ])('with %s it ends with a sentence and without the password', async (_case, env, code, text) => {
    const ran = await commandLine(['store', 'status'], { env });
    expect(ran.code).toBe(code);
    expect(ran.stderr).toContain(text);
    expect(ran.stderr).not.toContain('secret');
  });
});

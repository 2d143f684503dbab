import { randomBytes } from 'node:crypto';
import { type TestDatabase, testDatabase } from '@fixpoint/testing/test-database';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { Client, type Pool } from 'pg';
import { artifactsContract, collect } from './artifacts.contract.ts';
import { PostgresArtifacts } from './postgres-artifacts.ts';
import { storePool } from './store-pool.ts';

// A busy disk can hold a commit up for seconds.
jest.setTimeout(30_000);

const MIB = 1024 * 1024;
const poolOf = (database: TestDatabase): Pool =>
  storePool({ url: database.url, role: 'fixpoint_executor', applicationName: 'fixpoint spec' }, 3);

artifactsContract('Postgres', async () => {
  const database = await testDatabase();
  const pool = poolOf(database);
  const close = async (): Promise<void> => {
    await pool.end();
    await database.close();
  };
  return { artifacts: new PostgresArtifacts(pool), close };
});

describe('artifacts in Postgres', () => {
  let database: TestDatabase;
  let pool: Pool;
  let artifacts: PostgresArtifacts;
  let superuser: Client;

  beforeAll(async () => {
    database = await testDatabase();
    pool = poolOf(database);
    artifacts = new PostgresArtifacts(pool);
    superuser = new Client({ connectionString: database.url });
    await superuser.connect();
  });
  afterAll(async () => {
    await Promise.all([pool.end(), superuser.end()]);
    await database.close();
  });
  const chunks = async (): Promise<number> =>
    (await superuser.query<{ n: number }>('select count(*)::int as n from store.artifact_chunk')).rows[0]?.n ?? -1;

  const read = async (hash: string): Promise<Uint8Array[]> => {
    const stored = await artifacts.get(hash);
    if (stored === null) throw new Error(`no artifact ${hash}`);
    return collect(stored);
  };

  test('are compressed and stored once', async () => {
    const before = await chunks();
    const bytes = Buffer.alloc(2 * MIB + 1, 'all work and no play ');
    await artifacts.put(bytes);
    await artifacts.put(bytes);
    await artifacts.put(bytes.subarray(0, 1000));
    await artifacts.put(bytes.subarray(0, 1000));
    expect(await chunks()).toBe(before + 4);
    const { rows } = await superuser.query('select encoding, length(body) < 10000 as small from store.artifact_chunk');
    expect(rows.filter(({ encoding, small }) => encoding === 'zstd' && small === true)).toHaveLength(3);
  });

  test('leave nothing behind when a stream breaks off', async () => {
    const before = await chunks();
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield randomBytes(3 * MIB);
      throw new Error('pipe closed');
    }
    await expect(artifacts.put(broken())).rejects.toThrow('pipe closed');
    expect(await chunks()).toBe(before);
  });

  test('what a crash left behind is removed, what is in use is not', async () => {
    const bytes = randomBytes(MIB + 1);
    const { hash } = await artifacts.put(bytes);
    const before = await chunks();
    await superuser.query(
      `insert into store.artifact_chunk values (gen_random_uuid(), 0, 'identity', '\\x00', now() - interval '2 hours'),
       (gen_random_uuid(), 0, 'identity', '\\x00', now())`,
    );
    expect(await artifacts.removeUnfinished(3_600_000)).toBe(1);
    expect(await chunks()).toBe(before + 1);
    expect(await artifacts.get(hash)).not.toBeNull();
  });

  test('cannot be taken apart by a service', async () => {
    const { hash } = await artifacts.put(randomBytes(MIB + 1));
    await pool.query('delete from store.artifact_chunk');
    expect(Buffer.concat(await read(hash))).toHaveLength(MIB + 1);
    await expect(pool.query('delete from store.artifact')).rejects.toThrow('permission denied');
    await expect(pool.query('update store.artifact_chunk set index = 9')).rejects.toThrow('permission denied');
  });

  test.each([
    [
      'a changed byte',
      `update store.artifact_chunk set encoding = 'identity', body = '\\x00'`,
      'its bytes have another hash',
    ],
    ['a lost chunk', 'delete from store.artifact_chunk where index = 1', 'chunk 1 is missing'],
  ])('%s is noticed', async (_name, sql, message) => {
    const { hash } = await artifacts.put(randomBytes(MIB + 1));
    await superuser.query(sql);
    await expect(read(hash)).rejects.toThrow(message);
  });
});

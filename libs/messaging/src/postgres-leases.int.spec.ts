import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { leasesContract } from './leases.contract.ts';
import { ensureLeaseTable, postgresLeases } from './postgres-leases.ts';

describe('leases in Postgres', () => {
  let pool: pg.Pool;
  const schemas: string[] = [];
  beforeAll(() => {
    pool = new pg.Pool({ connectionString: process.env.POSTGRES_URL, max: 10 });
  });
  afterAll(async () => {
    for (const schema of schemas) await pool.query(`drop schema ${pg.escapeIdentifier(schema)} cascade`);
    await pool.end();
  });

  const newSchema = async (): Promise<string> => {
    const schema = `Leases of ${randomUUID()}`;
    schemas.push(schema);
    await pool.query(`create schema ${pg.escapeIdentifier(schema)}`);
    return schema;
  };
  const databaseTime = async (): Promise<Date> => (await pool.query('select clock_timestamp() as now')).rows[0].now;

  leasesContract(async () => {
    const schema = await newSchema();
    await ensureLeaseTable(pool, schema);
    return {
      leases: postgresLeases(pool, schema),
      now: databaseTime,
      pass: async (ms) => {
        await pool.query('select pg_sleep($1)', [ms / 1_000]);
      },
      close: () => Promise.resolve(),
    };
  });

  test('the table can be made by many at once', async () => {
    const schema = await newSchema();
    await Promise.all(Array.from({ length: 10 }, () => ensureLeaseTable(pool, schema)));
    const leases = postgresLeases(pool, schema);
    expect(await leases.take({ stream: 's', phase: 'p', owner: 'o', ttlMs: 1_000 })).toEqual({ lease: 'taken' });
  });

  test('renewals and releases that name the same leases in opposite order do not lock each other out', async () => {
    const schema = await newSchema();
    await ensureLeaseTable(pool, schema);
    const leases = postgresLeases(pool, schema);
    const keys = Array.from({ length: 200 }, (_, n) => ({ stream: `s${n}`, phase: 'p' }));
    for (let round = 0; round < 5; round += 1) {
      await Promise.all(keys.map((key) => leases.take({ ...key, owner: 'o', ttlMs: 10_000 })));
      const renewals = Array.from({ length: 10 }, (_, n) =>
        leases.renew('o', n % 2 === 0 ? keys : keys.toReversed(), 10_000),
      );
      await Promise.all([...renewals, leases.release('o', keys.toReversed())]);
    }
    expect(await leases.renew('o', keys, 10_000)).toHaveLength(200);
  });
});

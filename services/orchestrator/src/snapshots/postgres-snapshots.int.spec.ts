import { roleDatabase } from '@fixpoint/event-store/role-database';
import { type TestDatabase, testDatabase } from '@fixpoint/testing/test-database';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Kysely } from 'kysely';
import { Play } from '../domain/lineage/lineage.fixture.ts';
import { ORCHESTRATOR_MIGRATIONS } from '../migrations.ts';
import { foldVersion } from './fold-version.ts';
import { postgresSnapshots } from './postgres-snapshots.ts';

let database: TestDatabase;
let db: Kysely<unknown>;

beforeAll(async () => {
  database = await testDatabase({ migrations: [ORCHESTRATOR_MIGRATIONS] });
  db = roleDatabase({ url: database.url, role: 'fixpoint_orchestrator', applicationName: 'fixpoint spec' }, 1);
});
afterAll(async () => {
  await db.destroy();
  await database.close();
});

const { state } = new Play().submit();
const snapshot = { state, version: 700, eventHash: 'h' };

describe('snapshots of lineages', () => {
  test('come back as they were saved, the newest of each', async () => {
    const snapshots = postgresSnapshots(db, 'v1');
    await snapshots.save('a', snapshot);
    await snapshots.save('b', { ...snapshot, version: 600 });
    await snapshots.save('b', { ...snapshot, version: 500 });
    const loaded = await snapshots.load(['a', 'b', 'c']);
    expect(loaded.get('a')).toEqual(snapshot);
    expect([...loaded].map(([stream, { version }]) => [stream, version]).sort()).toEqual([
      ['a', 700],
      ['b', 600],
    ]);
  });

  test('of other code are not seen, and give way', async () => {
    await postgresSnapshots(db, 'v1').save('d', { ...snapshot, version: 900 });
    const newer = postgresSnapshots(db, 'v2');
    expect((await newer.load(['d'])).size).toBe(0);
    await newer.save('d', snapshot);
    expect((await newer.load(['d'])).get('d')).toEqual(snapshot);
  });

  test('are named by the code that folds', () => {
    expect(foldVersion()).toMatch(/^[0-9a-f]{64}$/);
    expect(foldVersion()).toBe(foldVersion());
  });
});

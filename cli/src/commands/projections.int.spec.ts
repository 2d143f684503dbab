import { readFile } from 'node:fs/promises';
import { AUDITOR_MIGRATIONS } from '@fixpoint/auditor/migrations';
import { readModel } from '@fixpoint/auditor/projections/read-model';
import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { PostgresEventStore } from '@fixpoint/event-store/postgres-event-store';
import { ProjectionRunner } from '@fixpoint/event-store/projection';
import { roleDatabase } from '@fixpoint/event-store/role-database';
import { ORCHESTRATOR_MIGRATIONS } from '@fixpoint/orchestrator/migrations';
import { type WaitTables, waitRows } from '@fixpoint/orchestrator/waits/postgres-waits';
import { allVisible } from '@fixpoint/testing/all-visible';
import { type TestDatabase, testDatabase } from '@fixpoint/testing/test-database';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { type Kysely, sql } from 'kysely';
import { commandLine } from '../command-line.fixture.ts';

jest.setTimeout(60_000);

let database: TestDatabase;
let store: PostgresEventStore;
let db: Kysely<unknown>;

/** A stored sample of a type, as a later event of its lineage. */
const sample = async (type: string): Promise<RecordedEvent> =>
  JSON.parse(await readFile(new URL(`../../../libs/contracts/samples/${type}.v1.json`, import.meta.url), 'utf8'));

beforeAll(async () => {
  database = await testDatabase({ migrations: [ORCHESTRATOR_MIGRATIONS, AUDITOR_MIGRATIONS] });
  const options = { url: database.url, role: 'fixpoint_embedded', applicationName: 'fixpoint spec' } as const;
  store = new PostgresEventStore(options);
  db = roleDatabase(options, 4);
  const submitted = await sample('task_submitted');
  const { root, stream, id, type, schema_version, data, metadata, occurred_at } = submitted;
  const event = { id, type, schema_version, data, metadata, occurred_at };
  expect(await store.append({ stream, root, expectedVersion: 0, events: [event] })).toMatchObject({
    outcome: 'appended',
  });
  await allVisible(store);
  await new ProjectionRunner({ db, store, projection: readModel, owner: 'spec' }).catchUp();
  const waits = db as unknown as Kysely<WaitTables>;
  await new ProjectionRunner({ db: waits, store, projection: waitRows, owner: 'spec' }).catchUp();
});
afterAll(async () => {
  await db.destroy();
  await store.close();
  await database.close();
});

const projections = (...args: string[]) =>
  commandLine(['projections', ...args], { env: { FIXPOINT_POSTGRES_URL: database.url } });
const linesOf = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('fixpoint projections', () => {
  test('list says how far each is and who keeps it', async () => {
    const { code, stdout } = await projections('list', '--json');
    expect(code).toBe(0);
    expect(linesOf(stdout)).toMatchObject([
      { name: 'auditor__read_model', behind: 0, behind_ms: 0, kept_by: 'spec', rebuilding: false, reconciled: null },
      { name: 'orchestrator__waits', behind: 0, kept_by: 'spec' },
    ]);
    expect((await projections('list')).stdout).toMatch(/auditor__read_model +0 +- +spec +never/);
  });

  test('B17 reconcile ends with 0 when all rows are right, and with 1 and their names when one is not', async () => {
    const right = await projections('reconcile', '--json');
    expect(right.code).toBe(0);
    expect(linesOf(right.stdout)).toMatchObject([
      { name: 'auditor__read_model', events: 1, differing: 0 },
      { name: 'orchestrator__waits', events: 1, differing: 0 },
    ]);
    await sql`update audit.lineage set status = 'blocked'`.execute(db);
    await sql`insert into audit.protocol_mode values ('ghost', 1, 'build', 'p', 1, 1)`.execute(db);
    await sql`delete from audit.task`.execute(db);
    const wrong = await projections('reconcile', 'auditor__read_model');
    expect(wrong.code).toBe(1);
    expect(wrong.stdout).toContain('3 rows differ');
    expect(wrong.stdout).toMatch(/lineage lineage=\S+: status: blocked instead of running/);
    expect(wrong.stdout).toMatch(/task task=\S+: is missing/);
    expect(wrong.stdout).toContain(
      'protocol_mode project=ghost name=p version=1 mode=build: is there, and no event makes it',
    );
    expect(linesOf((await projections('list', '--json')).stdout)[0].reconciled).toMatchObject({ differing: 3 });
  });

  test('rebuild mends what differs', async () => {
    const rebuilt = await projections('rebuild', 'auditor__read_model', '--json');
    expect(rebuilt.code).toBe(0);
    expect(linesOf(rebuilt.stdout)).toMatchObject([{ name: 'auditor__read_model', events: 1 }]);
    expect((await projections('reconcile')).code).toBe(0);
    expect((await projections('rebuild')).stdout).toMatch(
      /^auditor__read_model: rebuilt from 1 events in [\d.]+ s\norch/,
    );
  });

  test('rebuild is refused while somebody else does it', async () => {
    await sql`insert into store.checkpoint (name, epoch, xid, position, owner, fence, lease_until)
      values ('orchestrator__waits__beside', 0, '0', 0, 'other', 1, 'infinity')`.execute(db);
    const refused = await projections('rebuild', 'orchestrator__waits');
    expect(refused.code).toBe(5);
    expect(refused.stderr).toContain('orchestrator__waits is being rebuilt already');
    expect(linesOf((await projections('list', '--json')).stdout)[1]).toMatchObject({ rebuilding: true });
  });

  test('a name that no projection has is told with those there are', async () => {
    const unknown = await projections('reconcile', 'audit');
    expect(unknown.code).toBe(2);
    expect(unknown.stderr).toContain(
      'there is no projection audit\n  hint: there are auditor__read_model, orchestrator__waits',
    );
  });
});

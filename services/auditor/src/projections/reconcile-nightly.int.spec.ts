import { ProjectionRunner } from '@fixpoint/event-store/projection';
import { reconciliations } from '@fixpoint/event-store/reconciliations';
import { createLog } from '@fixpoint/runtime/log';
import { type ReconcilingDeps, reconciledHealth, reconcileNightly } from '@fixpoint/runtime/reconciling';
import { systemClock } from '@fixpoint/runtime/system-clock';
import { noMetrics } from '@fixpoint/runtime/telemetry/metrics';
import { allVisible } from '@fixpoint/testing/all-visible';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { sql } from 'kysely';
import { type AuditDatabase, auditDatabase } from './audit-database.fixture.ts';
import { repaired, telling } from './history.fixture.ts';
import { readModel } from './read-model.ts';
import { append } from './store-history.fixture.ts';

jest.setTimeout(60_000);

let audit: AuditDatabase;
let deps: ReconcilingDeps<unknown>;

beforeAll(async () => {
  audit = await auditDatabase(6);
  const story = telling();
  repaired('r1', story);
  await append(audit.store, story.told);
  await allVisible(audit.store);
  const { db, store } = audit;
  await new ProjectionRunner({ db, store, projection: readModel, owner: 'live' }).catchUp();
  const clock = { ...systemClock, sleep: () => Promise.resolve() };
  const log = createLog({ name: 'spec', mode: 'silent', level: 'info' });
  deps = { db, store, clock, log, metrics: noMetrics, projection: readModel, at: '03:00' };
});
afterAll(() => audit.close());

const night = (): Promise<unknown> =>
  sql`update store.reconciliation set due_at = clock_timestamp() - interval '1 second'`.execute(audit.db);
const round = () => reconcileNightly(deps)(new AbortController().signal);
const last = async () => (await reconciliations(audit.db))[0];

describe('the nightly comparison of a projection with the log', () => {
  test('waits for its time of day, by the clock of the database', async () => {
    await round();
    expect(await last()).toMatchObject({ projection: 'auditor__read_model', finished_at: null, differing: null });
    const { rows } = await sql<{ ok: boolean }>`
      select due_at > clock_timestamp() and due_at <= clock_timestamp() + interval '1 day'
        and to_char(due_at at time zone 'utc', 'HH24:MI') = '03:00' as ok from store.reconciliation`.execute(audit.db);
    expect(rows).toEqual([{ ok: true }]);
  });

  test('is made by one process, notes what it found, and is due again the next night', async () => {
    await night();
    const [info, due] = [jest.spyOn(deps.log, 'info'), async () => (await last())?.due_at];
    await Promise.all([round(), round(), round()]);
    expect(info).toHaveBeenCalledTimes(1);
    expect(await last()).toMatchObject({ differing: 0, differences: [] });
    expect(Date.parse((await due()) ?? '')).toBeGreaterThan(Date.now());
    expect(await reconciledHealth(deps).state()).toMatchObject({ healthy: true, detail: '' });
  });

  test('B17 a row that stands still while its history has finished is found, logged, and remarked on in health', async () => {
    await sql`update audit.task set status = 'running', ended_at = null where task = 'r1'`.execute(audit.db);
    await night();
    const error = jest.spyOn(deps.log, 'error');
    await round();
    expect(error).toHaveBeenCalledTimes(1);
    expect(await last()).toMatchObject({
      differing: 1,
      differences: [{ table: 'task', row: 'task=r1', kind: 'different' }],
    });
    expect(await reconciledHealth(deps).state()).toMatchObject({
      healthy: true,
      detail: expect.stringMatching(/^1 rows differed from the log at 2\S+Z: see fixpoint projections reconcile/),
    });
  });

  test('is never made where it is turned off', async () => {
    await night();
    const before = await last();
    await reconcileNightly({ ...deps, at: null })(new AbortController().signal);
    expect(await last()).toEqual(before);
  });
});

import { type TestDatabase, testDatabase } from '@fixpoint/testing/test-database';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { Client } from 'pg';
import { PostgresEventStore } from './postgres-event-store.ts';
import { SERVICE_ROLES, type StoreRole } from './roles.ts';
import { event } from './store-events.fixture.ts';

// A busy disk can hold a commit up for seconds.
jest.setTimeout(30_000);

const OWNERS = {
  orchestrator: 'node_ready',
  validator: 'governance_passed',
  executor: 'tool_called',
  decomposer: 'split_decided',
  auditor: 'checkpoint_signed',
} as const;

const eventTypes = [
  ...Object.entries(OWNERS).map(([owner, type]) => ({ owner, type })),
  { owner: 'orchestrator', type: 'run_revoked' },
  ...Object.keys(OWNERS).map((owner) => ({ owner, type: 'dead_lettered' })),
];

describe('the event log', () => {
  let database: TestDatabase;
  let superuser: Client;

  beforeAll(async () => {
    database = await testDatabase({ eventTypes });
    superuser = new Client({ connectionString: database.url });
    await superuser.connect();
    await appendAs('fixpoint_executor', 'action-1-1', 'tool_called');
  });
  afterAll(async () => {
    await Promise.all([...stores.values()].map((store) => store.close()));
    await superuser.end();
    await database.close();
  });

  const stores = new Map<StoreRole, PostgresEventStore>();
  const storeOf = (role: StoreRole): PostgresEventStore => {
    const store =
      stores.get(role) ?? new PostgresEventStore({ url: database.url, role, applicationName: 'fixpoint spec' });
    stores.set(role, store);
    return store;
  };
  let appended = 0;
  const appendAs = async (role: StoreRole, stream: string, type: string): Promise<string> => {
    const store = storeOf(role);
    appended += 1;
    const events = [event(stream, `cause ${appended}`, { type })];
    const expectedVersion = (await store.readStream(stream)).length;
    const outcome = await store.append({ stream, root: stream, expectedVersion, events });
    return outcome.outcome === 'rejected' ? outcome.code : outcome.outcome;
  };

  describe('is append-only, even for a superuser', () => {
    test.each([
      ['UPDATE', `update store.event set type = 'forged'`],
      ['DELETE', 'delete from store.event'],
      ['TRUNCATE', 'truncate store.event'],
    ])('S-T99: %s fails', async (operation, sql) => {
      await expect(superuser.query(sql)).rejects.toThrow(`store.event is append-only: ${operation} refused`);
      await superuser.query('begin');
      await superuser.query('set local session_replication_role = replica');
      await expect(superuser.query(sql)).rejects.toThrow(`store.event is append-only: ${operation} refused`);
      await superuser.query('rollback');
    });

    test.each(Object.values(SERVICE_ROLES))('%s may not even try', async (role) => {
      for (const sql of ['update store.event set version = 2', 'delete from store.event', 'truncate store.event']) {
        await superuser.query('begin');
        await superuser.query(`set local role ${role}`);
        await expect(superuser.query(sql)).rejects.toThrow('permission denied for table event');
        await superuser.query('rollback');
      }
    });

    test.each(['store.identity', 'store.event_type', 'store.migration'])('no service may write %s', async (table) => {
      await superuser.query('begin');
      await superuser.query('set local role fixpoint_embedded');
      await expect(superuser.query(`delete from ${table}`)).rejects.toThrow('permission denied');
      await superuser.query('rollback');
    });
  });

  describe('takes from a service only its own types', () => {
    const services = Object.keys(OWNERS) as (keyof typeof OWNERS)[];
    const pairs = services.flatMap((service) => services.map((owner) => [service, owner] as const));

    test.each(pairs)('%s writing what %s owns', async (service, owner) => {
      const outcome = await appendAs(SERVICE_ROLES[service], `spec-${service}-${owner}`, OWNERS[owner]);
      expect(outcome).toBe(service === owner ? 'appended' : 'type_not_allowed');
    });

    test.each(services)('%s may write what belongs to all', async (service) => {
      expect(await appendAs(SERVICE_ROLES[service], `dead-${service}`, 'dead_lettered')).toBe('appended');
    });

    test('a type nobody owns is refused from everyone', async () => {
      expect(await appendAs('fixpoint_embedded', 'spec-unknown', 'unknown_type')).toBe('type_not_allowed');
    });
  });

  describe('keeps action streams for the executor', () => {
    test.each([
      ['fixpoint_executor', 'tool_called', 'appended'],
      ['fixpoint_orchestrator', 'run_revoked', 'type_not_allowed'],
      ['fixpoint_orchestrator', 'node_ready', 'type_not_allowed'],
      ['fixpoint_validator', 'governance_passed', 'type_not_allowed'],
      ['fixpoint_decomposer', 'split_decided', 'type_not_allowed'],
      ['fixpoint_auditor', 'checkpoint_signed', 'type_not_allowed'],
    ] as const)('%s writing %s: %s', async (role, type, expected) => {
      expect(await appendAs(role, 'action-1-1', type)).toBe(expected);
    });
  });

  describe('lets a service move the heads of its own streams only', () => {
    const STREAMS = {
      orchestrator: ['lineage', 'protocol', 'provider'],
      validator: ['gate', 'verdicts'],
      executor: ['action'],
      decomposer: ['council'],
      auditor: ['audit'],
    } as const;
    const services = Object.keys(OWNERS) as (keyof typeof OWNERS)[];
    const cases = services.flatMap((owner) =>
      STREAMS[owner].flatMap((category) => services.map((service) => [service, category, owner] as const)),
    );

    test.each(cases)('%s on a stream %s-…', async (service, category, owner) => {
      const stream = `${category}-heads-${service}`;
      const isOwn = service === owner;
      expect(await appendAs(SERVICE_ROLES[service], stream, OWNERS[service])).toBe(
        isOwn ? 'appended' : 'type_not_allowed',
      );
      await superuser.query(`insert into store.stream_head values ($1, 7, 6) on conflict do nothing`, [stream]);
      await superuser.query('begin');
      await superuser.query(`set local role ${SERVICE_ROLES[service]}`);
      const moved = await superuser.query(`update store.stream_head set version = 9 where stream = $1`, [stream]);
      await superuser.query('rollback');
      expect(moved.rowCount).toBe(isOwn ? 1 : 0);
    });

    test('the orchestrator begins the action stream of a run that it gives up, and moves none that was begun', async () => {
      expect(await appendAs('fixpoint_orchestrator', 'action-heads-1', 'run_revoked')).toBe('appended');
      expect(await appendAs('fixpoint_orchestrator', 'action-heads-1', 'run_revoked')).toBe('type_not_allowed');
      const late = { stream: 'action-1-1', root: 'r', expectedVersion: 0 };
      const events = [event('action-1-1', 'given up', { type: 'run_revoked' })];
      expect(await storeOf('fixpoint_orchestrator').append({ ...late, events })).toEqual({ outcome: 'conflict' });
    });
  });

  test.each(Object.values(OWNERS))('a process that holds all services may write %s', async (type) => {
    expect(await appendAs('fixpoint_embedded', `embedded-${type}`, type)).toBe('appended');
  });

  test('belongs to a role that cannot log in', async () => {
    const url = Object.assign(new URL(database.url), { username: 'fixpoint_owner' }).href;
    const owner = new Client({ connectionString: url });
    await expect(owner.connect()).rejects.toThrow();
    const { rows } = await superuser.query(
      `select tableowner, rolcanlogin, rolsuper from pg_tables join pg_roles on rolname = tableowner where schemaname = 'store' group by 1, 2, 3`,
    );
    expect(rows).toEqual([{ tableowner: 'fixpoint_owner', rolcanlogin: false, rolsuper: false }]);
  });
});

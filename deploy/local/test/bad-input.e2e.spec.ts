import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { ApiError } from '@fixpoint/client/api-error';
import { fixpointClient } from '@fixpoint/client/client';
import { canonicalJson } from '@fixpoint/contracts/canonical-json';
import { sha256 } from '@fixpoint/contracts/content-hash';
import type { DeadLetterRow } from '@fixpoint/contracts/rest/dead-letters';
import { errorBodySchema } from '@fixpoint/contracts/rest/errors';
import { eventHash } from '@fixpoint/event-store/hash';
import { PostgresEventStore } from '@fixpoint/event-store/postgres-event-store';
import { eventually } from '@fixpoint/testing/eventually';
import { type TestDatabase, testDatabase } from '@fixpoint/testing/test-database';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { connect } from '@nats-io/transport-node';
import { Client as Postgres } from 'pg';
import { heldTask } from './held-task.ts';
import { type RunningInstallation, type Service, startInstallation } from './installation.ts';
import { startService } from './service-program.ts';

const START_MS = 120_000;
const END_MS = 60_000;

let database: TestDatabase;
let postgres: Postgres;
let installation: RunningInstallation;

beforeAll(async () => {
  database = await testDatabase();
  postgres = new Postgres({ connectionString: database.url });
  await postgres.connect();
  installation = await startInstallation({ postgresUrl: database.url, embedded: true });
}, START_MS);

afterAll(async () => {
  await installation.stop();
  await postgres.end();
  await database.close();
}, END_MS);

const post = async (body: string, headers: Readonly<Record<string, string>> = {}) => {
  const response = await fetch(`${installation.writeUrl}/v1/tasks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
  return { status: response.status, body: (await response.json()) as unknown };
};

const storedEvents = async (): Promise<number> => {
  const { rows } = await postgres.query<{ n: number }>('select count(*)::int as n from store.event');
  return rows[0]?.n ?? 0;
};

/** @param rest lines of the document's root. */
const document = (rest: string, name = 'bad-input'): string =>
  `kind: task/v1\nname: ${name}\nproject: e2e\ngoal: It says so\n${rest}`;
const quoted = (text: string): string => JSON.stringify({ document: text });

describe('an environment that does not fit', () => {
  test.each<Service>(['orchestrator', 'validator', 'executor', 'decomposer', 'auditor'])(
    'ends the %s with all that is wrong and none of its source',
    async (service) => {
      const program = startService(service, { FIXPOINT_POSTGRES_URL: 'mysql://u:a-secret@h/d', FIXPOINT_LOG: 'loud' });
      expect(await program.ended()).toBe(1);
      expect(program.log()).toMatch(/^The configuration does not fit:\n(?: {2}FIXPOINT_\w+\b.*\n)*$/);
      for (const key of ['POSTGRES_URL', 'NATS_URL', 'LOG']) expect(program.log()).toContain(`FIXPOINT_${key}`);
      expect(program.log()).not.toContain('a-secret');
    },
    END_MS,
  );
});

describe('a submission that can not be understood', () => {
  test.each([
    ['is no JSON', '{"document": "kind', 'body_not_json', 1],
    ['is no YAML', quoted('kind: task/v1\nname: [\n'), 'FX001', 3],
    ['has a list where a mapping belongs', quoted(document('recipe: [make]\n')), 'FX013', 5],
    ['has a number where text belongs', quoted(document('recipe: { command: 5 }\n')), 'FX013', 5],
    ['has an unknown key', quoted(document('recipe: { command: make }\nretries: 3\n')), 'FX011', 6],
    ['has an unknown policy', quoted(document('recipe: { command: make }\npolicy: maybe\n')), 'FX103', 6],
    ['recovers without a postcondition', quoted(document('recipe: { command: make }\npolicy: recover\n')), 'FX104', 6],
    [
      'would repair its own check',
      quoted(document('recipe: { command: make }\npostcondition: { command: make }\npolicy: recover\n')),
      'FX105',
      null,
    ],
    [
      'has an integer beyond 2^53',
      quoted(document('recipe: { command: make }\npriority: 9007199254740993\n')),
      'FX004',
      6,
    ],
  ])('that %s is refused with code, place and hint, and nothing is stored', async (_name, body, code, line) => {
    const before = await storedEvents();
    const answer = await post(body);
    const { diagnostics } = errorBodySchema.parse(answer.body);
    expect(answer.status).toBe(400);
    expect(diagnostics[0]).toMatchObject({ code, severity: 'error', column: expect.any(Number) });
    expect(diagnostics[0]?.line).toEqual(line ?? expect.any(Number));
    expect(diagnostics[0]?.hint).not.toBe('');
    expect(await storedEvents()).toBe(before);
  });

  const large = 'x'.repeat(1024 * 1024);
  test.each([
    ['names an integer beyond 2^53 in JSON', '{"document":{"priority":9007199254740993}}', 400, 'integer_beyond_2_53'],
    ['is one byte over 1 MiB', `{"document":"${large.slice(14 - 1)}"}`, 413, 'payload_too_large'],
    [
      'would be an event over 64 KiB',
      quoted(document(`recipe: { command: ${large.slice(0, 66_000)} }\n`)),
      400,
      'document_too_large',
    ],
    ['has an empty batch', '{"tasks":[]}', 400, 'request_invalid'],
  ])('that %s is refused with a code, and nothing is stored', async (_name, body, status, code) => {
    const before = await storedEvents();
    const answer = await post(body);
    expect([answer.status, errorBodySchema.parse(answer.body).code]).toEqual([status, code]);
    expect(await storedEvents()).toBe(before);
  });

  test('in another format is refused', async () => {
    const answer = await post('kind: task/v1', { 'content-type': 'application/yaml' });
    expect(answer.status).toBe(415);
  });
});

describe('an idempotency key', () => {
  test('with the same document is the same task, with another one 409', async () => {
    const { client } = installation;
    const key = randomUUID();
    const first = await client.submit({ document: document('recipe: { command: "true" }\n'), idempotency_key: key });
    const again = await client.submit({ document: document('recipe: { command: "true" }\n'), idempotency_key: key });
    expect([again.lineage, first.created, again.created]).toEqual([first.lineage, true, false]);
    const other = client.submit({ document: document('recipe: { command: "false" }\n'), idempotency_key: key });
    await expect(other).rejects.toMatchObject({ status: 409, code: 'idempotency_key_reused' });
  });
});

interface Row {
  readonly stream: string;
  readonly version: number;
  readonly id: string;
  readonly type: string;
  readonly schemaVersion: number;
  readonly occurredAt: string;
  readonly metadata: string;
  readonly data: string;
  readonly hash: Buffer;
}

const rowsOf = async (root: string): Promise<readonly Row[]> => {
  const columns = 'stream, version, id, type, schema_version as "schemaVersion", occurred_at as "occurredAt"';
  const texts = 'metadata::text as metadata, data::text as data, hash';
  const { rows } = await postgres.query<Row>(`select ${columns}, ${texts} from store.event where root = $1`, [root]);
  return rows;
};

describe('NUL and lone surrogates', () => {
  const NUL = '\u0000';
  const LONE = '\ud83d';

  test(
    'E1 E3 in goal, command and output are stored as they are, shown safely, and hashed over what is stored',
    async () => {
      const { client } = installation;
      const goal = `a${NUL}b${LONE}c \\u0000`;
      const command = "printf 'out\\000\\355\\240\\200'";
      const { lineage } = await client.submit({
        document: { kind: 'task/v1', name: 'nul', project: 'e2e', goal, recipe: { command } },
      });
      const ended = await client.waitForEnd(lineage, END_MS);
      expect(ended.lineage).toMatchObject({ status: 'completed', goal: 'a\u2400b\ufffdc \\u0000' });
      const { items: tasks } = await client.tasks({ lineage });
      expect(tasks[0]?.goal).toBe('a\u2400b\ufffdc \\u0000');

      const { items: events } = await client.events({ lineage, limit: 1000 });
      const submitted = events.find(({ type }) => type === 'task_submitted');
      expect(submitted?.data).toMatchObject({ spec: { goal, nodes: [{ recipe: { command } }] } });
      const called = events.find(({ type }) => type === 'tool_called');
      expect(called?.data).toMatchObject({ command, exit_code: 0 });
      for (const event of events) {
        const parts = { ...event, schemaVersion: event.schema_version, occurredAt: event.occurred_at };
        const texts = { metadata: canonicalJson(event.metadata), data: canonicalJson(event.data) };
        expect(eventHash({ ...parts, ...texts }).toString('hex')).toBe(event.hash);
      }
      const rows = await rowsOf(lineage);
      expect(rows).toHaveLength(events.length);
      for (const row of rows) expect(eventHash(row).equals(row.hash)).toBe(true);
    },
    END_MS,
  );

  test.each([
    ['NUL', `echo ${NUL}`],
    ['a lone surrogate', `echo ${LONE}`],
  ])(
    'E1 a command with %s, which no system can start, is a visible failure of its own task only',
    async (_n, command) => {
      const { client } = installation;
      const { lineage } = await client.submit({
        document: { kind: 'task/v1', name: 'nul', project: 'e2e', goal: 'g', recipe: { command } },
      });
      const ended = await client.waitForEnd(lineage, END_MS);
      expect(ended.lineage).toMatchObject({ status: 'human', raw_halt_type: 'no_progress' });
      const { items } = await client.events({ lineage, limit: 1000 });
      expect(items.find(({ type }) => type === 'tool_called')?.data).toMatchObject({ command, outcome: 'not_started' });
      expect(items.filter(({ type }) => type === 'dead_lettered')).toEqual([]);
    },
    END_MS,
  );
});

describe('an event that this release does not know', () => {
  const fields = (root: string, change: Readonly<Record<string, unknown>>) => ({
    ...{ id: randomUUID(), type: 'governance_passed', schema_version: 1, data: { root, task: root, run: 99 } },
    metadata: { causation_id: root, correlation_id: root, producer: 'test', actor: 'system' },
    occurred_at: new Date().toISOString(),
    ...change,
  });
  const message = (event: object): string => JSON.stringify({ offers: [{ event, node_ready: null }] });
  const unstored = (root: string, change: Readonly<Record<string, unknown>>): string => {
    const place = {
      root,
      stream: `gate-${root}-1`,
      version: 1,
      cursor: { epoch: 1, xid: '1', position: '1' },
      hash: '',
    };
    return message({ ...fields(root, change), ...place });
  };
  /** As a newer validator would leave it. */
  const ofNewerRelease = async (root: string): Promise<string> => {
    const store = new PostgresEventStore({ url: database.url, role: 'fixpoint_validator', applicationName: 'e2e' });
    const events = [fields(root, { schema_version: 99 })];
    const stored = await store.append({ stream: `gate-${root}-99`, root, expectedVersion: 0, events });
    await store.close();
    if (stored.outcome !== 'appended' || !stored.events[0]) throw new Error(stored.outcome);
    return message(stored.events[0]);
  };
  const letterAbout = (wanted: Partial<DeadLetterRow>): Promise<DeadLetterRow> =>
    eventually(`there is a dead letter with ${JSON.stringify(wanted)}`, async () => {
      const { items } = await installation.client.deadLetters();
      return (
        items.find((row) => Object.entries(wanted).every(([key, value]) => Reflect.get(row, key) === value)) ?? null
      );
    });

  test(
    'F5, F6, F7 of unknown version or type is a dead letter with a handoff; others go on; it comes back from a replay once',
    async () => {
      const { client, bus } = installation;
      const held = await heldTask(installation.folder);
      const { lineage } = await client.submit({ document: held.document });
      await held.started();
      const nats = await connect({ servers: /nats:\S+/.exec(bus)?.[0] ?? '' });
      nats.publish('fixpoint.work.governance_passed.normal', await ofNewerRelease(lineage));
      nats.publish('fixpoint.work.node_verified_action.normal', unstored(randomUUID(), { type: 'node_dreamt_of' }));
      nats.publish('fixpoint.work.node_dreamt_of.normal', unstored(lineage, { type: 'node_dreamt_of' }));
      nats.publish('fixpoint.work.node_ready.normal', 'no JSON at all');
      await nats.drain();

      const other = await client.submit({ document: document('recipe: { command: "true" }\n') });
      expect((await client.waitForEnd(other.lineage, END_MS)).lineage?.status).toBe('completed');
      // Each reader gives up on its own letters in its own time: both are waited for, not their number.
      const newer = await letterAbout({ reader: 'executor__run', lineage, event_version: 99 });
      const unheard = await letterAbout({ event_type: 'node_dreamt_of' });
      expect((await client.deadLetters({ lineage: other.lineage })).items).toEqual([]);
      const handoff = await eventually('a handoff is open', async () => {
        const { items } = await client.events({ lineage, type: 'human_required' });
        return items[0] ?? null;
      });
      expect(handoff.data).toMatchObject({ help: 'infrastructure', raw_halt_type: 'dead_letter' });

      await expect(client.replayDeadLetter(unheard.letter)).rejects.toMatchObject({ code: 'event_not_stored' });
      const orders = [client.replayDeadLetter(newer.letter), client.replayDeadLetter(newer.letter)];
      const changed = (await Promise.all(orders)).map((handled) => handled.changed);
      expect(changed.sort()).toEqual([false, true]);
      await letterAbout({ letter: newer.letter, status: 'parked', replays: 1, deliveries: newer.deliveries + 1 });
      const { cursor } = await client.discardDeadLetter(newer.letter, { reason: 'it was taken back' });
      const { history, event, status } = await client.deadLetter(newer.letter, cursor);
      expect([status, event?.schema_version]).toEqual(['discarded', 99]);
      expect(history.map(({ type }) => type)).toEqual([
        ...['dead_lettered', 'dead_letter_replayed', 'dead_lettered', 'dead_letter_discarded'],
      ]);
      await held.release();
      expect((await client.waitForEnd(lineage, END_MS)).lineage?.status).toBe('completed');
    },
    3 * END_MS,
  );
});

/** With a Host header that a browser would send for another name. */
const statusFor = (host: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const asked = request(`${installation.auditUrl}/v1/audit/lineages`, { headers: { host } }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    asked.on('error', reject).end();
  });

describe('without API keys', () => {
  test('only this machine is answered, under its own name', async () => {
    expect(await statusFor('127.0.0.1')).toBe(200);
    expect(await statusFor('fixpoint.example')).toBe(403);
  });

  test(
    'no process listens where others could reach it',
    async () => {
      const program = startService('auditor', {
        FIXPOINT_POSTGRES_URL: database.url,
        FIXPOINT_NATS_URL: /nats:\S+/.exec(installation.bus)?.[0] ?? '',
        FIXPOINT_HOST: '0.0.0.0',
        FIXPOINT_AUDITOR_PORT: '0',
      });
      expect(await program.ended()).toBe(1);
      expect(program.log()).toContain('Refusing to listen on 0.0.0.0 without API keys');
    },
    END_MS,
  );
});

describe('with API keys', () => {
  const keys = (['ada:writer', 'bob:writer', 'eve:reader'] as const).map((each) => {
    const [name = '', role] = each.split(':') as [string, 'writer' | 'reader'];
    return { name, role, sha256: sha256(`secret-of-${name}`) };
  });
  let guardedDatabase: TestDatabase;
  let guarded: RunningInstallation;

  beforeAll(async () => {
    guardedDatabase = await testDatabase();
    guarded = await startInstallation({ postgresUrl: guardedDatabase.url, embedded: true, apiKeys: keys });
  }, START_MS);
  afterAll(async () => {
    await guarded.stop();
    await guardedDatabase.close();
  }, END_MS);

  const as = (name: string | null) =>
    fixpointClient({ ...guarded, apiKey: name === null ? null : `secret-of-${name}` });
  const task = { document: document('recipe: { command: "true" }\n'), idempotency_key: 'the-same' };
  const refused = async (asked: Promise<unknown>) => {
    const error = await asked.then(
      () => null,
      (reason: unknown) => reason,
    );
    return error instanceof ApiError ? [error.status, error.code] : error;
  };

  test('nobody is answered without one, and a reader writes nothing', async () => {
    expect(await refused(as(null).lineages())).toEqual([401, 'unauthenticated']);
    expect(await refused(as('mallory').lineages())).toEqual([401, 'unauthenticated']);
    expect(await refused(as('eve').submit(task))).toEqual([403, 'role_insufficient']);
    expect((await as('eve').lineages()).items).toEqual([]);
  });

  test('E15 the same idempotency key of two principals is two tasks', async () => {
    const [ada, bob] = await Promise.all([as('ada').submit(task), as('bob').submit(task)]);
    expect(ada.lineage).not.toBe(bob.lineage);
    expect([ada.created, bob.created]).toEqual([true, true]);
    const { items } = await as('eve').events({ lineage: bob.lineage, type: 'task_submitted', after: bob.cursor });
    expect(items[0]?.metadata.actor).toBe('bob');
  });
});

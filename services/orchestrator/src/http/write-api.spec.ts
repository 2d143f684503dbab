import { sha256 } from '@fixpoint/contracts/content-hash';
import { CURSOR_START } from '@fixpoint/contracts/envelope';
import { errorBodySchema } from '@fixpoint/contracts/rest/errors';
import { publishedProtocolSchema } from '@fixpoint/contracts/rest/protocols';
import { batchSubmittedSchema, submittedSchema } from '@fixpoint/contracts/rest/tasks';
import { lineageStream } from '@fixpoint/contracts/streams';
import { MemoryEventStore } from '@fixpoint/event-store/memory-event-store';
import { memoryBus } from '@fixpoint/messaging/memory-bus';
import type { ApiKey } from '@fixpoint/runtime/api-keys';
import { infrastructureModule } from '@fixpoint/runtime/infrastructure';
import { silentLog } from '@fixpoint/runtime/log';
import { type Running, start } from '@fixpoint/runtime/start';
import { systemClock } from '@fixpoint/runtime/system-clock';
import { systemIds } from '@fixpoint/runtime/system-ids';
import { afterEach, describe, expect, test } from '@jest/globals';
import { orchestratorModule } from '../orchestrator.module.ts';

const DOCUMENT = `kind: task/v1
name: count
project: shop
mode: build
goal: It counts
recipe: { command: make }
postcondition: { command: test -f it }
`;

let running: Running | null = null;
let store = new MemoryEventStore();
afterEach(async () => {
  await running?.close();
  running = null;
});

const serve = async ({
  apiKeys = [],
  mostInFlight = 100,
  ...queue
}: {
  apiKeys?: readonly ApiKey[];
  mostInFlight?: number;
  window?: number;
  mostQueued?: number;
} = {}) => {
  store = new MemoryEventStore();
  const infrastructure = infrastructureModule({
    ...{ store, clock: systemClock, ids: systemIds, pool: null, log: silentLog },
    bus: memoryBus({ clock: systemClock, report: () => undefined }),
    artifacts: { put: () => Promise.reject(new Error('none here')), get: () => Promise.resolve(null) },
    release: () => Promise.resolve(),
  });
  const http = { host: '127.0.0.1', port: 0, apiKeys };
  running = await start([orchestratorModule(infrastructure, { mostInFlight, ...queue })], {
    http,
    log: silentLog,
    drainMs: 1_000,
  });
};

const post = async (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) => {
  const response = await fetch(`${running?.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as unknown };
};
const submit = (document: unknown, key?: string) =>
  post('/v1/tasks', { document, ...(key === undefined ? {} : { idempotency_key: key }) });

const stored = async (): Promise<number> => (await store.readAll(CURSOR_START, 1_000)).events.length;

describe('a submitted task', () => {
  test('is accepted and starts its first node', async () => {
    await serve();
    const { status, body } = await submit(DOCUMENT);
    expect(status).toBe(202);
    const { lineage, created } = submittedSchema.parse(body);
    expect(created).toBe(true);
    const events = await store.readStream(lineageStream(lineage));
    expect(events.map(({ type }) => type)).toEqual(['task_submitted', 'node_ready']);
    expect(events[0]?.metadata).toMatchObject({ actor: 'local', producer: 'orchestrator__submit' });
  });

  test('may be a JSON object', async () => {
    await serve();
    const document = {
      kind: 'task/v1',
      name: 'count',
      project: 'shop',
      mode: 'build',
      goal: 'g',
      recipe: { command: 'make' },
    };
    expect((await submit(document)).status).toBe(202);
  });

  test('is the same lineage under the same key and document, and stored once', async () => {
    await serve();
    const first = submittedSchema.parse((await submit(DOCUMENT, 'k1')).body);
    const again = await submit(DOCUMENT, 'k1');
    expect(again.status).toBe(200);
    expect(submittedSchema.parse(again.body)).toMatchObject({ lineage: first.lineage, created: false });
    expect(await stored()).toBe(2);
  });

  test('is refused under a key that another document has', async () => {
    await serve();
    await submit(DOCUMENT, 'k1');
    const { status, body } = await submit(DOCUMENT.replace('It counts', 'It sings'), 'k1');
    expect([status, errorBodySchema.parse(body).code]).toEqual([409, 'idempotency_key_reused']);
    expect(await stored()).toBe(2);
  });

  test('may have its key in the header', async () => {
    await serve();
    const one = await post('/v1/tasks', { document: DOCUMENT }, { 'idempotency-key': 'k1' });
    const other = await submit(DOCUMENT, 'k1');
    expect(submittedSchema.parse(other.body).lineage).toBe(submittedSchema.parse(one.body).lineage);
    const torn = await post('/v1/tasks', { document: DOCUMENT, idempotency_key: 'k2' }, { 'idempotency-key': 'k1' });
    expect([torn.status, errorBodySchema.parse(torn.body).code]).toEqual([400, 'idempotency_key_twice']);
  });

  test('sent twice at the same time under one key is one lineage', async () => {
    await serve();
    const answers = await Promise.all(Array.from({ length: 8 }, () => submit(DOCUMENT, 'k1')));
    expect(new Set(answers.map(({ body }) => submittedSchema.parse(body).lineage)).size).toBe(1);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 200, 200, 202]);
    expect(await stored()).toBe(2);
  });

  test.each([
    ['is no YAML', 'kind: task/v1\nname: [\n', 'FX001', 3],
    ['has no known policy', `${DOCUMENT}policy: sometimes\n`, 'FX103', 8],
    ['has a relative repository', `${DOCUMENT}workspace: { git: { url: ./repo, ref: main } }\n`, 'FX114', 8],
    ['names no mode of its protocol', DOCUMENT.replace('mode: build', 'mode: fly'), 'FX120', 4],
    ['uses a primitive wrongly', DOCUMENT.replace('{ command: make }', '{ primitive: counter, with: {} }'), 'FX013', 6],
  ])('that %s is refused with its place, and nothing is stored', async (_name, document, code, line) => {
    await serve();
    const { status, body } = await submit(document);
    const { diagnostics, ...error } = errorBodySchema.parse(body);
    expect([status, error.code]).toEqual([400, 'document_invalid']);
    expect(diagnostics[0]).toMatchObject({ code, line });
    expect(diagnostics[0]?.hint).not.toBe('');
    expect(await stored()).toBe(0);
  });

  test('with an integer beyond 2^53 is refused with a code', async () => {
    await serve();
    const { status, body } = await submit(`${DOCUMENT}priority: 9007199254740993\n`);
    expect([status, errorBodySchema.parse(body).diagnostics[0]?.code]).toEqual([400, 'FX004']);
    const raw = await post('/v1/tasks', '{"document":{"kind":"task/v1","priority":9007199254740993}}');
    expect([raw.status, errorBodySchema.parse(raw.body).code]).toEqual([400, 'integer_beyond_2_53']);
    expect(await stored()).toBe(0);
  });

  test('keeps NUL and lone surrogates of its goal exactly', async () => {
    await serve();
    const goal = 'a\u0000b\ud800c';
    const document = {
      kind: 'task/v1',
      name: 'count',
      project: 'shop',
      mode: 'build',
      goal,
      recipe: { command: 'make' },
    };
    const { status, body } = await submit(document);
    expect(status).toBe(202);
    const [first] = await store.readStream(lineageStream(submittedSchema.parse(body).lineage));
    expect(first?.data).toMatchObject({ spec: { goal } });
  });

  test('that no event could hold is refused', async () => {
    await serve();
    const { status, body } = await submit(DOCUMENT.replace('It counts', 'x'.repeat(20_000)));
    expect([status, errorBodySchema.parse(body).code]).toEqual([400, 'document_too_large']);
  });

  test('beyond what may be in flight is told to come back', async () => {
    await serve({ mostInFlight: 1 });
    const stuck = Promise.withResolvers<void>();
    const append = store.appendAll.bind(store);
    store.appendAll = async (appends) => {
      await stuck.promise;
      return append(appends);
    };
    const first = submit(DOCUMENT);
    const second = submit(DOCUMENT);
    const refused = await Promise.race([first, second]);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    stuck.resolve();
    const statuses = [(await first).status, (await second).status];
    expect(statuses.sort()).toEqual([202, 429]);
  });
});

describe('a task behind a full queue', () => {
  test('is told to come back, and what is queued already stays', async () => {
    await serve({ window: 1, mostQueued: 1 });
    expect([(await submit(DOCUMENT)).status, (await submit(DOCUMENT)).status]).toEqual([202, 202]);
    const { status, headers, body } = await submit(DOCUMENT);
    expect([status, headers.get('retry-after'), errorBodySchema.parse(body).code]).toEqual([429, '10', 'queue_full']);
  });
});

describe('a batch', () => {
  test('admits or refuses each task for itself, in order', async () => {
    await serve();
    const tasks = [
      { document: DOCUMENT, idempotency_key: 'a' },
      { document: 'nonsense' },
      { document: DOCUMENT, idempotency_key: 'a' },
    ];
    const { status, body } = await post('/v1/tasks', { tasks });
    expect(status).toBe(200);
    const { results } = batchSubmittedSchema.parse(body);
    expect(results.map((result) => [result.outcome, result.http_status])).toEqual([
      ['accepted', 202],
      ['refused', 400],
      ['accepted', 200],
    ]);
  });

  test('of a thousand is stored whole', async () => {
    await serve({ mostInFlight: 10 });
    const { body } = await post('/v1/tasks', { tasks: Array.from({ length: 1_000 }, () => ({ document: DOCUMENT })) });
    const { results } = batchSubmittedSchema.parse(body);
    expect(results.filter(({ outcome }) => outcome === 'accepted')).toHaveLength(1_000);
  });
});

describe('a published protocol', () => {
  const PROTOCOL = `kind: protocol/v1
name: strict
project: shop
modes:
  build:
    pre: [{ id: document, check: { document_schema: {} }, severity: blocker }]
    post: []
`;
  const publish = (document: string, headers = {}) => post('/v1/protocols', { document }, headers);

  test('gets versions, and the same content the same one', async () => {
    await serve();
    const first = await publish(PROTOCOL);
    expect([first.status, publishedProtocolSchema.parse(first.body).version]).toEqual([201, 1]);
    const again = await publish(PROTOCOL);
    expect([again.status, publishedProtocolSchema.parse(again.body).created]).toEqual([200, false]);
    const next = await publish(PROTOCOL.replace('strict', 'stricter'));
    expect([next.status, publishedProtocolSchema.parse(next.body).version]).toEqual([201, 2]);
  });

  test('pins the lineages that are admitted from then on', async () => {
    await serve();
    const before = submittedSchema.parse((await submit(DOCUMENT)).body);
    await publish(PROTOCOL);
    const after = submittedSchema.parse((await submit(DOCUMENT)).body);
    const protocolOf = async (lineage: string) => (await store.readStream(lineageStream(lineage)))[0]?.data;
    expect(await protocolOf(before.lineage)).toMatchObject({ protocol: { name: 'default', version: 1 } });
    expect(await protocolOf(after.lineage)).toMatchObject({ protocol: { name: 'strict', version: 1 } });
  });

  test('that is malformed is refused with its place', async () => {
    await serve();
    const { status, body } = await publish('kind: protocol/v1\nname: strict\n');
    expect([status, errorBodySchema.parse(body).code]).toEqual([400, 'document_invalid']);
    expect(await stored()).toBe(0);
  });

  test('needs the role admin', async () => {
    const keys = [{ name: 'ann', role: 'writer', sha256: sha256('secret') }] as const;
    await serve({ apiKeys: keys });
    expect((await publish(PROTOCOL)).status).toBe(401);
    expect((await publish(PROTOCOL, { authorization: 'Bearer secret' })).status).toBe(403);
  });
});

describe('the schemas of documents', () => {
  const SECRET = 'k'.repeat(32);
  const keys: readonly ApiKey[] = [{ name: 'ci', role: 'reader', sha256: sha256(SECRET) }];
  const get = (path: string, method = 'GET'): Promise<Response> => fetch(`${running?.url}${path}`, { method });

  test.each(['task.v1.json', 'protocol.v1.json'])(
    '%s is what the package has, for editors without a key',
    async (file) => {
      await serve({ apiKeys: keys });
      const answer = await get(`/v1/schemas/${file}`);
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      expect([answer.status, answer.headers.get('content-type')]).toEqual([
        200,
        'application/schema+json; charset=utf-8',
      ]);
      const { default: packaged } = await import(`@fixpoint/contracts/schemas/${file}`, { with: { type: 'json' } });
      expect(await answer.json()).toEqual(packaged);
    },
  );

  test('a schema that there is not is told with those that there are', async () => {
    await serve();
    const answer = await get('/v1/schemas/epic.v1.json');
    expect([answer.status, errorBodySchema.parse(await answer.json())]).toEqual([
      404,
      { code: 'schema_unknown', detail: expect.stringContaining('task.v1.json'), diagnostics: [] },
    ]);
  });

  test.each(['/v1/schemas/../tasks', '/v1/schemas/%2e%2e/tasks', '/v1/schemas', '/v1/tasks?/v1/schemas/a'])(
    '%s opens no other route',
    async (path) => {
      await serve({ apiKeys: keys });
      expect((await get(path)).status).toBe(401);
      expect((await get('/v1/schemas/task.v1.json', 'POST')).status).toBe(401);
    },
  );
});

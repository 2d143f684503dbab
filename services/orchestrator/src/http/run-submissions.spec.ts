import { errorBodySchema } from '@fixpoint/contracts/rest/errors';
import { submittedSchema } from '@fixpoint/contracts/rest/tasks';
import { lineageStream } from '@fixpoint/contracts/streams';
import { MemoryEventStore } from '@fixpoint/event-store/memory-event-store';
import { memoryBus } from '@fixpoint/messaging/memory-bus';
import { infrastructureModule } from '@fixpoint/runtime/infrastructure';
import { silentLog } from '@fixpoint/runtime/log';
import { type TokenMint, tokenMint } from '@fixpoint/runtime/run-tokens.fixture';
import { type Running, start } from '@fixpoint/runtime/start';
import { systemClock } from '@fixpoint/runtime/system-clock';
import { systemIds } from '@fixpoint/runtime/system-ids';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { orchestratorModule } from '../orchestrator.module.ts';

const DOCUMENT = {
  ...{ kind: 'task/v1', name: 'count', project: 'shop', mode: 'build', goal: 'It counts' },
  ...{ recipe: { command: 'make' }, postcondition: { command: 'test -f it' } },
};
const CHILD = { ...DOCUMENT, name: 'docs', goal: 'It is described' };

let validator: TokenMint;
let running: Running | null = null;
let store = new MemoryEventStore();
let root = '';

beforeAll(async () => {
  validator = await tokenMint();
});
const serve = async (config: object = { tokenKeys: validator.keys }) => {
  store = new MemoryEventStore();
  const infrastructure = infrastructureModule({
    ...{ store, clock: systemClock, ids: systemIds, pool: null, log: silentLog },
    bus: memoryBus({ clock: systemClock, report: () => undefined }),
    artifacts: { put: () => Promise.reject(new Error('none here')), get: () => Promise.resolve(null) },
    release: () => Promise.resolve(),
  });
  const http = { host: '127.0.0.1', port: 0, apiKeys: [] };
  running = await start([orchestratorModule(infrastructure, { mostInFlight: 9, ...config })], {
    ...{ http, log: silentLog, drainMs: 1_000 },
  });
  root = submittedSchema.parse((await ask('POST', '/v1/tasks', null, { document: DOCUMENT })).body).lineage;
};
beforeEach(() => serve());
afterEach(async () => {
  await running?.close();
  running = null;
});

const ask = async (method: string, path: string, token: string | null, body?: object) => {
  const headers = { 'content-type': 'application/json', ...(token !== null && { authorization: `Bearer ${token}` }) };
  const sent = { method, headers, ...(body && { body: JSON.stringify(body) }) };
  const response = await fetch(`${running?.url}${path}`, sent);
  return { status: response.status, body: (await response.json()) as unknown };
};
const tokenOf = (claims: object = {}) => validator.mint({ root, task: root, run: 1, ...claims });
const submit = async (document: object, key?: string, claims: object = {}) =>
  ask('POST', '/v1/tasks', await tokenOf(claims), { document, ...(key !== undefined && { idempotency_key: key }) });
const codeOf = ({ status, body }: { status: number; body: unknown }) => [status, errorBodySchema.parse(body).code];
const typesOf = async () => (await store.readStream(lineageStream(root))).map(({ type }) => type);

describe('a submission with the token of a run', () => {
  test('becomes a child of its unit, at once', async () => {
    const { status, body } = await submit(CHILD);
    expect(status).toBe(202);
    expect(submittedSchema.parse(body)).toMatchObject({ lineage: root, task: `${root}.1`, created: true });
    expect(await typesOf()).toEqual(['task_submitted', 'node_ready', 'child_submitted', 'node_ready']);
    const submitted = (await store.readStream(lineageStream(root)))[2];
    expect(submitted).toMatchObject({
      data: { task: root, scope: { project: 'shop', mode: 'build' }, split_depth: 1, lineage_children: 1 },
      metadata: { actor: `run:${root}#1` },
    });
  });

  test('finds the same child by key, and without one by what it says', async () => {
    for (const key of ['k', undefined]) {
      const first = submittedSchema.parse((await submit(CHILD, key)).body);
      const again = await submit(CHILD, key, { jti: 'of another attempt' });
      expect(again).toMatchObject({ status: 200, body: { task: first.task, created: false } });
    }
    expect(codeOf(await submit({ ...CHILD, goal: 'else' }, 'k'))).toEqual([409, 'idempotency_key_reused']);
  });

  test('is refused beyond the children of a lineage', async () => {
    for (let n = 1; n <= 8; n += 1) expect((await submit(CHILD, `k${n}`)).status).toBe(202);
    expect(codeOf(await submit(CHILD, 'k9'))).toEqual([409, 'no_children_left']);
  });

  test('is refused beyond the depth of a lineage', async () => {
    const child = submittedSchema.parse((await submit(CHILD)).body).task;
    const nested = submittedSchema.parse((await submit(CHILD, 'n', { task: child })).body).task;
    expect(codeOf(await submit(CHILD, 'n', { task: nested }))).toEqual([409, 'no_depth_left']);
  });

  test('is refused outside the scope and the workspace of the lineage', async () => {
    expect(codeOf(await submit({ ...CHILD, project: 'other' }))).toEqual([422, 'scope_of_lineage']);
    const workspace = { git: { url: 'https://git.invalid/a', ref: 'main' } };
    expect(codeOf(await submit({ ...CHILD, workspace }))).toEqual([422, 'workspace_of_lineage']);
    expect(codeOf(await submit({ kind: 'task/v1' }))).toEqual([400, 'document_invalid']);
    expect(await typesOf()).toHaveLength(2);
  });

  test('is refused once its run has ended, and so is a token whose time is over', async () => {
    expect(codeOf(await submit(CHILD, 'k', { run: 2 }))).toEqual([409, 'run_not_in_flight']);
    expect(codeOf(await submit(CHILD, 'k', { exp: 1 }))).toEqual([401, 'unauthenticated']);
  });

  test('is refused with a token that another key signed', async () => {
    const token = await (await tokenMint()).mint({ root, task: root });
    expect(codeOf(await ask('POST', '/v1/tasks', token, { document: CHILD }))).toEqual([401, 'unauthenticated']);
  });

  test('is refused where nobody knows the keys of the validators', async () => {
    await running?.close();
    await serve({});
    expect(codeOf(await submit(CHILD))).toEqual([401, 'unauthenticated']);
  });

  test('E15 has keys of its own: the same key of an API client is another task', async () => {
    const child = submittedSchema.parse((await submit(CHILD, 'k')).body);
    const keyed = { document: CHILD, idempotency_key: 'k' };
    const other = submittedSchema.parse((await ask('POST', '/v1/tasks', null, keyed)).body);
    expect([other.created, other.lineage === child.lineage]).toEqual([true, false]);
  });

  test('is one task, never a batch', async () => {
    const body = { tasks: [{ document: CHILD }] };
    expect(codeOf(await ask('POST', '/v1/tasks', await tokenOf(), body))).toEqual([400, 'batch_not_for_runs']);
  });

  test.each([
    ['GET', '/v1/audit/lineages/x?after=1.1.1'],
    ['GET', '/v1/audit/events/stream?lineage=x'],
    ['GET', '/v1/schemas/nothing/here'],
    ['POST', '/v1/escalations'],
    ['POST', '/v1/protocols'],
  ])('allows nothing else: %s %s', async (method, path) => {
    const body = method === 'POST' ? {} : undefined;
    expect(codeOf(await ask(method, path, await tokenOf(), body))).toEqual([409, 'not_for_runs']);
  });
});

import { parseEvent } from '@fixpoint/contracts/events/parse-event';
import { submittedSchema } from '@fixpoint/contracts/rest/tasks';
import { lineageStream } from '@fixpoint/contracts/streams';
import { memoryArtifacts } from '@fixpoint/event-store/memory-artifacts';
import { MemoryEventStore } from '@fixpoint/event-store/memory-event-store';
import { memoryBus } from '@fixpoint/messaging/memory-bus';
import { infrastructureModule } from '@fixpoint/runtime/infrastructure';
import { silentLog } from '@fixpoint/runtime/log';
import { type Running, start } from '@fixpoint/runtime/start';
import { systemClock } from '@fixpoint/runtime/system-clock';
import { systemIds } from '@fixpoint/runtime/system-ids';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { orchestratorModule } from '../orchestrator.module.ts';

const TASK = {
  ...{ kind: 'task/v1', name: 'count', project: 'shop', mode: 'build', goal: 'It counts' },
  ...{ recipe: { command: 'make' }, postcondition: { command: 'test -f it' } },
};
const ESCALATION = { what: 'It counts', stage: 'review', diagnosis: 'red for a day', findings: [{ file: 'a.ts' }] };

let running: Running | null = null;
let store = new MemoryEventStore();
const artifacts = memoryArtifacts();

beforeEach(async () => {
  store = new MemoryEventStore();
  const infrastructure = infrastructureModule({
    ...{ store, clock: systemClock, ids: systemIds, pool: null, log: silentLog },
    bus: memoryBus({ clock: systemClock, report: () => undefined }),
    artifacts,
    release: () => Promise.resolve(),
  });
  const http = { host: '127.0.0.1', port: 0, apiKeys: [] };
  running = await start([orchestratorModule(infrastructure)], { http, log: silentLog, drainMs: 1_000 });
});
afterEach(async () => {
  await running?.close();
  running = null;
});

const post = async (
  body: object,
  to: { readonly route?: string; readonly type?: string; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<{ status: number; body: unknown }> => {
  const { route = 'escalations', type = 'application/json', headers = {} } = to;
  const sent = { method: 'POST', headers: { 'content-type': type, ...headers }, body: JSON.stringify(body) };
  const response = await fetch(`${running?.url}/v1/${route}`, sent);
  return { status: response.status, body: await response.json() };
};

const typesOf = async (body: unknown): Promise<string[]> =>
  (await store.readStream(lineageStream(submittedSchema.parse(body).lineage))).map((event) => parseEvent(event).type);

describe('an escalation', () => {
  test('with a task becomes a lineage that has stalled and is checked', async () => {
    const { status, body } = await post({ ...ESCALATION, task: TASK });
    expect(status).toBe(202);
    expect((await typesOf(body)).slice(0, 3)).toEqual(['task_submitted', 'task_stalled', 'node_ready']);
  });

  test('without one is a question to the council', async () => {
    const { status, body } = await post({ ...ESCALATION, project: 'shop' });
    expect(status).toBe(202);
    expect((await typesOf(body)).slice(0, 3)).toEqual(['task_submitted', 'task_stalled', 'decomposition_requested']);
  });

  test('is one lineage under one key, and the key is one of its own', async () => {
    const keyed = { ...ESCALATION, task: TASK, idempotency_key: 'k' };
    const first = await post(keyed);
    const again = await post(keyed);
    expect([first.status, again.status]).toEqual([202, 200]);
    expect(submittedSchema.parse(again.body).lineage).toBe(submittedSchema.parse(first.body).lineage);
    expect(await post({ ...keyed, diagnosis: 'something else' })).toMatchObject({ status: 409 });
  });

  test('out of a lineage that goes on becomes a child of it, once under one key, and is a lineage of its own after its end', async () => {
    const first = submittedSchema.parse((await post({ ...ESCALATION, task: TASK })).body);
    const out = { ...ESCALATION, task: { ...TASK, name: 'part' }, caused_by: first.lineage, idempotency_key: 'k' };
    const child = await post(out);
    expect(child).toMatchObject({ status: 202, body: { lineage: first.lineage, task: `${first.lineage}.1` } });
    expect(await post(out)).toMatchObject({ status: 200, body: { task: `${first.lineage}.1`, created: false } });
    expect(await post({ ...out, diagnosis: 'another' })).toMatchObject({ status: 409 });
    expect((await typesOf(child.body)).slice(3)).toEqual(['child_submitted', 'task_stalled', 'node_ready']);
    await post({ reason: 'enough' }, { route: `tasks/${first.lineage}/cancel` });
    const late = await post({ ...out, idempotency_key: 'later' });
    expect(submittedSchema.parse(late.body)).not.toMatchObject({ lineage: first.lineage });
    expect(await post(out)).toMatchObject({ status: 200, body: { task: `${first.lineage}.1` } });
  });

  test.each([
    ['that is not here', 'gone', TASK],
    ['of another project', null, { ...TASK, project: 'bakery' }],
  ])('out of a lineage %s is a lineage of its own that names it', async (_, other, task) => {
    const caused_by = other ?? submittedSchema.parse((await post({ ...ESCALATION, task: TASK })).body).lineage;
    const { lineage } = submittedSchema.parse((await post({ ...ESCALATION, task, caused_by })).body);
    const [submitted] = await store.readStream(lineageStream(lineage));
    expect(submitted).toMatchObject({ type: 'task_submitted', data: { origin: { caused_by } } });
  });

  test('keeps a diff that was sent as text as an artifact', async () => {
    const { lineage } = submittedSchema.parse((await post({ ...ESCALATION, task: TASK, diff: '-one\n+two\n' })).body);
    const [submitted] = await store.readStream(lineageStream(lineage));
    const { hash } = await artifacts.put(Buffer.from('-one\n+two\n'));
    expect(submitted).toMatchObject({ data: { origin: { diff: hash } } });
  });

  test.each(['application/json', 'application/cloudevents+json'])('may come as an event, as %s', async (type) => {
    const event = { specversion: '1.0', id: '1', source: '/ci', type: 'fixpoint.escalation', subject: 'count' };
    const told = { ...event, data: { ...ESCALATION, task: TASK } };
    const first = await post(told, { route: 'events', type });
    expect(first.status).toBe(202);
    const again = await post(told, { route: 'events', type });
    expect(again).toMatchObject({ status: 200, body: { lineage: submittedSchema.parse(first.body).lineage } });
    expect((await post({ ...told, id: '2' }, { route: 'events', type })).status).toBe(202);
    expect((await post({ ...told, type: 'somebody.elses' }, { route: 'events', type })).status).toBe(400);
  });

  test('may come as an event in binary mode, and is the same as in one piece', async () => {
    const event = { specversion: '1.0', id: '7', source: '/ci', type: 'fixpoint.escalation' };
    const data = { ...ESCALATION, task: TASK };
    const attributes = Object.fromEntries(Object.entries(event).map(([name, value]) => [`ce-${name}`, value]));
    const first = await post(data, { route: 'events', headers: attributes });
    expect(first.status).toBe(202);
    expect(await post({ ...event, data }, { route: 'events' })).toMatchObject({
      status: 200,
      body: { created: false },
    });
    const other = await post(data, { route: 'events', headers: { ...attributes, 'ce-type': 'somebody.elses' } });
    expect(other).toMatchObject({ status: 400, body: { code: 'request_invalid' } });
    const broken = await post(data, { route: 'events', headers: { ...attributes, 'ce-id': '%E2' } });
    expect(broken).toMatchObject({ status: 400, body: { code: 'event_invalid' } });
  });

  test.each([
    ['names no project and no task', ESCALATION, 'project_missing'],
    ['names a mode that there is not', { ...ESCALATION, project: 'shop', mode: 'prod' }, 'mode_unknown'],
    ['has a task that is none', { ...ESCALATION, task: { kind: 'task/v1' } }, 'document_invalid'],
  ])('that %s is refused', async (_, body, code) => {
    expect(await post(body)).toMatchObject({ status: 400, body: { code } });
  });
});

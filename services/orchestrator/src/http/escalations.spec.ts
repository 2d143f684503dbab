import { parseEvent } from '@fixpoint/contracts/events/parse-event';
import { submittedSchema } from '@fixpoint/contracts/rest/tasks';
import { lineageStream } from '@fixpoint/contracts/streams';
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

beforeEach(async () => {
  store = new MemoryEventStore();
  const infrastructure = infrastructureModule({
    ...{ store, clock: systemClock, ids: systemIds, pool: null, log: silentLog },
    bus: memoryBus({ clock: systemClock, report: () => undefined }),
    artifacts: { put: () => Promise.reject(new Error('none here')), get: () => Promise.resolve(null) },
    release: () => Promise.resolve(),
  });
  const http = { host: '127.0.0.1', port: 0, apiKeys: [] };
  running = await start([orchestratorModule(infrastructure)], { http, log: silentLog, drainMs: 1_000 });
});
afterEach(async () => {
  await running?.close();
  running = null;
});

const post = async (body: object): Promise<{ status: number; body: unknown }> => {
  const headers = { 'content-type': 'application/json' };
  const sent = { method: 'POST', headers, body: JSON.stringify(body) };
  const response = await fetch(`${running?.url}/v1/escalations`, sent);
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

  test.each([
    ['names no project and no task', ESCALATION, 'project_missing'],
    ['names a mode that there is not', { ...ESCALATION, project: 'shop', mode: 'prod' }, 'mode_unknown'],
    ['has a task that is none', { ...ESCALATION, task: { kind: 'task/v1' } }, 'document_invalid'],
  ])('that %s is refused', async (_, body, code) => {
    expect(await post(body)).toMatchObject({ status: 400, body: { code } });
  });
});

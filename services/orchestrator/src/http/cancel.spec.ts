import { CURSOR_START } from '@fixpoint/contracts/envelope';
import { actionStream, lineageStream } from '@fixpoint/contracts/streams';
import { MemoryEventStore } from '@fixpoint/event-store/memory-event-store';
import { memoryBus } from '@fixpoint/messaging/memory-bus';
import { infrastructureModule } from '@fixpoint/runtime/infrastructure';
import { silentLog } from '@fixpoint/runtime/log';
import { type Running, start } from '@fixpoint/runtime/start';
import { systemClock } from '@fixpoint/runtime/system-clock';
import { systemIds } from '@fixpoint/runtime/system-ids';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { orchestratorModule } from '../orchestrator.module.ts';

const DOCUMENT = `kind: task/v1
name: count
project: shop
mode: build
goal: It counts
recipe: { command: make }
postcondition: { command: test -f it }
`;

const store = new MemoryEventStore();
let running: Running;
beforeAll(async () => {
  const infrastructure = infrastructureModule({
    ...{ store, clock: systemClock, ids: systemIds, pool: null, log: silentLog },
    bus: memoryBus({ clock: systemClock, report: () => undefined }),
    artifacts: { put: () => Promise.reject(new Error('none here')), get: () => Promise.resolve(null) },
    release: () => Promise.resolve(),
  });
  const http = { host: '127.0.0.1', port: 0, apiKeys: [] };
  running = await start([orchestratorModule(infrastructure)], { http, log: silentLog, drainMs: 1_000 });
});
afterAll(() => running.close());

const post = async (path: string, body: unknown) => {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${running.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

const submitted = async (): Promise<string> => String((await post('/v1/tasks', { document: DOCUMENT })).body.lineage);
const typesOf = async (stream: string): Promise<string[]> => (await store.readStream(stream)).map(({ type }) => type);

describe('POST /v1/tasks/:lineage/cancel', () => {
  test('B10 ends this lineage and no other, and its run can never start', async () => {
    const [one, other] = [await submitted(), await submitted()];
    const { status, body } = await post(`/v1/tasks/${one}/cancel`, { reason: 'not wanted' });
    expect([status, body]).toEqual([200, { lineage: one, task: '0', changed: true, cursor: expect.any(String) }]);
    expect(await typesOf(lineageStream(one))).toEqual(['task_submitted', 'node_ready', 'task_cancelled']);
    expect(await typesOf(actionStream(one, 1))).toEqual(['run_revoked']);
    expect(await typesOf(lineageStream(other))).toEqual(['task_submitted', 'node_ready']);
    expect(await typesOf(actionStream(other, 1))).toEqual([]);
  });

  test('frees what was reserved for a run that never starts', async () => {
    const document = `${DOCUMENT}policy: recover\n`;
    const one = String((await post('/v1/tasks', { document })).body.lineage);
    await post(`/v1/tasks/${one}/cancel`, {});
    expect((await store.readStream(lineageStream(one))).at(-1)).toMatchObject({
      type: 'run_accounted',
      data: { run: 1, spent: { money_micros: 0, tokens: 0 } },
    });
  });

  test('asked again, writes nothing', async () => {
    const lineage = await submitted();
    await post(`/v1/tasks/${lineage}/cancel`, {});
    const before = (await store.readAll(CURSOR_START, 1_000)).events.length;
    expect((await post(`/v1/tasks/${lineage}/cancel`, {})).body).toMatchObject({ changed: false, cursor: null });
    expect((await store.readAll(CURSOR_START, 1_000)).events.length).toBe(before);
  });

  test('is told what there is not', async () => {
    const lineage = await submitted();
    expect(await post('/v1/tasks/none/cancel', {})).toMatchObject({ status: 404, body: { code: 'lineage_unknown' } });
    const child = { task: '0.7' };
    expect(await post(`/v1/tasks/${lineage}/cancel`, child)).toMatchObject({
      status: 404,
      body: { code: 'task_unknown' },
    });
    expect(await post(`/v1/tasks/${lineage}/cancel`, { task: 'x' })).toMatchObject({ status: 400 });
  });
});

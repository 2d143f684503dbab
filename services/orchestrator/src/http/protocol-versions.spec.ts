import {
  protocolDetailSchema,
  protocolDiffSchema,
  protocolListSchema,
  withdrawnProtocolSchema,
} from '@fixpoint/contracts/rest/protocols';
import { MemoryEventStore } from '@fixpoint/event-store/memory-event-store';
import { memoryBus } from '@fixpoint/messaging/memory-bus';
import { infrastructureModule } from '@fixpoint/runtime/infrastructure';
import { silentLog } from '@fixpoint/runtime/log';
import { type Running, start } from '@fixpoint/runtime/start';
import { systemClock } from '@fixpoint/runtime/system-clock';
import { systemIds } from '@fixpoint/runtime/system-ids';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { orchestratorModule } from '../orchestrator.module.ts';

const protocol = (execute: number) => ({
  kind: 'protocol/v1',
  name: 'strict',
  project: 'shop',
  modes: { build: { bounds: { execute } } },
});
const TASK = {
  ...{ kind: 'task/v1', name: 'count', project: 'shop', mode: 'build', goal: 'It counts' },
  ...{ recipe: { command: 'make' }, postcondition: { command: 'test -f it' } },
};

let running: Running | null = null;

beforeEach(async () => {
  const infrastructure = infrastructureModule({
    ...{ store: new MemoryEventStore(), clock: systemClock, ids: systemIds, pool: null, log: silentLog },
    bus: memoryBus({ clock: systemClock, report: () => undefined }),
    artifacts: { put: () => Promise.reject(new Error('none here')), get: () => Promise.resolve(null) },
    release: () => Promise.resolve(),
  });
  const http = { host: '127.0.0.1', port: 0, apiKeys: [] };
  running = await start([orchestratorModule(infrastructure)], { http, log: silentLog, drainMs: 1_000 });
  for (const execute of [2, 5]) await ask('protocols', { document: protocol(execute) });
});
afterEach(async () => {
  await running?.close();
  running = null;
});

const ask = async (path: string, body?: unknown): Promise<{ status: number; body: unknown }> => {
  const headers = { 'content-type': 'application/json' };
  const sent = body === undefined ? {} : { method: 'POST', headers, body: JSON.stringify(body) };
  const response = await fetch(`${running?.url}/v1/${path}`, sent);
  return { status: response.status, body: await response.json() };
};

const submit = () => ask('tasks', { document: JSON.stringify(TASK) });
const withdraw = (version: number, reason = 'too lax') => ask(`protocols/shop/${version}/withdraw`, { reason });

describe('the versions of a protocol', () => {
  test('are listed and shown with all that they say', async () => {
    const { versions } = protocolListSchema.parse((await ask('protocols/shop')).body);
    expect(versions.map(({ version, withdrawn }) => [version, withdrawn])).toEqual([
      [1, null],
      [2, null],
    ]);
    const shown = protocolDetailSchema.parse((await ask('protocols/shop/2')).body);
    expect(shown.spec.modes.build?.bounds).toMatchObject({ execute: 5, auto_agent_max_attempts: 3 });
    expect((await ask('protocols/shop/3')).status).toBe(404);
    expect(await ask('protocols/nobody')).toEqual({ status: 200, body: { versions: [] } });
  });

  test('are compared field by field', async () => {
    const { changes } = protocolDiffSchema.parse((await ask('protocols/shop/diff?from=1&to=2')).body);
    expect(changes).toEqual([{ path: 'modes.build.bounds.execute', from: 2, to: 5 }]);
    expect((await ask('protocols/shop/diff?from=1')).status).toBe(400);
    expect((await ask('protocols/shop/diff?from=1&to=9')).status).toBe(404);
  });
});

describe('a version that is withdrawn', () => {
  test('is withdrawn once, and its first reason stays', async () => {
    expect(withdrawnProtocolSchema.parse((await withdraw(2)).body)).toMatchObject({
      ...{ version: 2, changed: true, withdrawn: { reason: 'too lax' } },
    });
    expect(withdrawnProtocolSchema.parse((await withdraw(2, 'other')).body)).toMatchObject({
      ...{ changed: false, withdrawn: { reason: 'too lax' } },
    });
    expect((await withdraw(9)).status).toBe(404);
  });

  test('admits nothing: the newest one that is left does, and without one nothing is admitted', async () => {
    await withdraw(2);
    expect((await submit()).status).toBe(202);
    await withdraw(1);
    expect(await submit()).toMatchObject({ status: 409, body: { code: 'protocol_withdrawn' } });
  });
});

import { definitionOf } from '@fixpoint/contracts/events/catalogue';
import { errorBodySchema } from '@fixpoint/contracts/rest/errors';
import { resumedProviderSchema } from '@fixpoint/contracts/rest/providers';
import { providerStream } from '@fixpoint/contracts/streams';
import type { MemoryEventStore } from '@fixpoint/event-store/memory-event-store';
import type { Running } from '@fixpoint/runtime/start';
import { afterEach, describe, expect, test } from '@jest/globals';
import { servedOrchestrator } from './served-orchestrator.fixture.ts';

const HOST = 'git.git.example.org';
const AT = '2026-01-01T00:00:00.000Z';

let running: Running | null = null;
afterEach(async () => {
  await running?.close();
  running = null;
});

/** An orchestrator over HTTP in whose store a host waits for a human. */
const serve = async (roles: readonly ('writer' | 'admin')[] = []): Promise<MemoryEventStore> => {
  const served = await servedOrchestrator(roles);
  running = served.running;
  const stream = providerStream(HOST);
  const type = 'provider_paused';
  const event = {
    ...{ id: '0192d3a4-b5c6-8def-8123-456789abcdef', type, schema_version: definitionOf(type)?.version ?? 1 },
    data: {
      ...{ provider: HOST, class: 'provider_auth', reason: 'refused_key', count: 1, until: null, since: AT },
      ...{ detail: 'no', paused_at: AT },
    },
    metadata: { causation_id: 'c', correlation_id: stream, producer: 'spec', actor: 'system' },
    occurred_at: AT,
  };
  await served.store.append({ stream, root: stream, expectedVersion: 0, events: [event] });
  return served.store;
};

const resume = async (provider: string, body: unknown, key = '') => {
  const response = await fetch(`${running?.url}/v1/providers/${provider}/resume`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key === '' ? {} : { authorization: `Bearer ${key}` }) },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as unknown };
};
const codeOf = (body: unknown): string => errorBodySchema.parse(body).code;

describe('a paused provider over HTTP', () => {
  test('is tried when somebody says so, and it is kept who', async () => {
    const store = await serve();
    const resumed = await resume(HOST, { reason: 'a new key' });
    expect(resumed.status).toBe(200);
    expect(resumedProviderSchema.parse(resumed.body)).toMatchObject({ provider: HOST, changed: true });
    const [, asked] = await store.readStream(providerStream(HOST));
    expect(asked).toMatchObject({ type: 'provider_retry_asked', data: { reason: 'a new key' } });
    expect(asked?.metadata.actor).toBe('local');
  });

  test('that nobody has heard of is a 404, a body that does not fit a 400', async () => {
    await serve();
    const unknown = await resume('git.nowhere', {});
    expect([unknown.status, codeOf(unknown.body)]).toEqual([404, 'provider_unknown']);
    expect((await resume(HOST, { now: true })).status).toBe(400);
  });

  test('is for those who run the installation, not for those who submit', async () => {
    await serve(['writer', 'admin']);
    const refused = await resume(HOST, {}, 'writer');
    expect([refused.status, codeOf(refused.body)]).toEqual([403, 'role_insufficient']);
    expect((await resume(HOST, {}, 'admin')).status).toBe(200);
  });
});

import { handledDeadLetterSchema } from '@fixpoint/contracts/rest/dead-letters';
import { errorBodySchema } from '@fixpoint/contracts/rest/errors';
import { deadLetterOfStream } from '@fixpoint/contracts/streams';
import type { MemoryEventStore } from '@fixpoint/event-store/memory-event-store';
import type { Publication } from '@fixpoint/messaging/bus';
import { deadLetterOf } from '@fixpoint/runtime/dead-letters';
import type { Running } from '@fixpoint/runtime/start';
import { systemClock } from '@fixpoint/runtime/system-clock';
import { afterEach, describe, expect, test } from '@jest/globals';
import { servedOrchestrator } from './served-orchestrator.fixture.ts';

let running: Running | null = null;
afterEach(async () => {
  await running?.close();
  running = null;
});

/** An orchestrator over HTTP whose store has one dead letter. */
const serve = async (roles: readonly ('writer' | 'admin')[] = []): Promise<string> => {
  const served = await servedOrchestrator(roles);
  running = served.running;
  return parkedIn(served.store);
};

const parkedIn = async (store: MemoryEventStore): Promise<string> => {
  const event = {
    ...{ id: '0192d3a4-b5c6-8def-8123-456789abcdef', type: 'node_ready', schema_version: 9, data: {} },
    metadata: { causation_id: 'c', correlation_id: 'p', producer: 'spec', actor: 'ci' },
    occurred_at: '2026-01-01T00:00:00.000Z',
  };
  const stored = await store.append({ stream: 'protocol-p', root: 'protocol-p', expectedVersion: 0, events: [event] });
  if (stored.outcome !== 'appended' || !stored.events[0]) throw new Error(stored.outcome);
  const told: Publication[] = [];
  const publisher = { publish: (some: readonly Publication[]) => void told.push(...some) };
  const giveUp = deadLetterOf({ store, publisher, clock: systemClock }, 'validator', 'validator__gate');
  await giveUp({ event: stored.events[0], nodeReady: null }, 5, 'no idea');
  return deadLetterOfStream(told[0]?.offer.event.stream ?? '') ?? '';
};

const post = async (path: string, body: unknown, key = '') => {
  const response = await fetch(`${running?.url}/v1/dead-letters/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key === '' ? {} : { authorization: `Bearer ${key}` }) },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as unknown };
};
const codeOf = (body: unknown): string => errorBodySchema.parse(body).code;

describe('a dead letter over HTTP', () => {
  test('is replayed and discarded, each once', async () => {
    const letter = await serve();
    const replayed = await post(`${letter}/replay`, {});
    expect(replayed.status).toBe(200);
    expect(handledDeadLetterSchema.parse(replayed.body)).toMatchObject({ letter, status: 'replayed', changed: true });
    expect((await post(`${letter}/replay`, { again: false })).body).toMatchObject({ changed: false });
    expect((await post(`${letter}/discard`, { reason: 'gone' })).body).toMatchObject({ status: 'discarded' });
    const late = await post(`${letter}/replay`, {});
    expect([late.status, codeOf(late.body)]).toEqual([409, 'dead_letter_discarded']);
  });

  test('that is not known is a 404, a body that does not fit a 400', async () => {
    const letter = await serve();
    const unknown = await post('validator-0/discard', {});
    expect([unknown.status, codeOf(unknown.body)]).toEqual([404, 'dead_letter_unknown']);
    expect((await post(`${letter}/replay`, { twice: true })).status).toBe(400);
  });

  test('is for those who run the installation, not for those who submit', async () => {
    const letter = await serve(['writer', 'admin']);
    for (const order of ['replay', 'discard']) {
      const refused = await post(`${letter}/${order}`, {}, 'writer');
      expect([refused.status, codeOf(refused.body)]).toEqual([403, 'role_insufficient']);
    }
    expect((await post(`${letter}/discard`, {}, 'admin')).status).toBe(200);
  });
});

import { errorBodySchema } from '@fixpoint/contracts/rest/errors';
import type { Running } from '@fixpoint/runtime/start';
import { afterEach, describe, expect, test } from '@jest/globals';
import { servedOrchestrator } from './served-orchestrator.fixture.ts';

let running: Running | null = null;
afterEach(async () => {
  await running?.close();
  running = null;
});

const ORDERS = [
  ['decisions', { version: 1, decision: { kind: 'retry' } }],
  ['claim', { version: 1 }],
] as const;

const post = async (order: string, body: unknown, key = '') => {
  const response = await fetch(`${running?.url}/v1/handoffs/r1.h1/${order}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key === '' ? {} : { authorization: `Bearer ${key}` }) },
    body: JSON.stringify(body),
  });
  return [response.status, errorBodySchema.parse(await response.json()).code];
};

describe('a handoff over HTTP', () => {
  test.each(ORDERS)('is not for those who submit the work: %s', async (order, body) => {
    ({ running } = await servedOrchestrator(['writer', 'admin']));
    expect(await post(order, body, 'writer')).toEqual([403, 'role_insufficient']);
    expect(await post(order, body, 'admin')).toEqual([404, 'handoff_unknown']);
  });

  test.each(ORDERS)('that is not known is a 404, and what does not fit is a 400: %s', async (order, body) => {
    ({ running } = await servedOrchestrator());
    expect(await post(order, body)).toEqual([404, 'handoff_unknown']);
    expect((await post(order, { ...body, more: 1 }))[0]).toBe(400);
  });
});

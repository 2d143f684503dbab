import type { Client } from '@fixpoint/client/client';
import type { Ended } from '@fixpoint/client/wait-for-end';
import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import type { Lineage } from '@fixpoint/contracts/rest/audit';
import { describe, expect, test } from '@jest/globals';
import { EXIT } from './exit-codes.ts';
import { codeOfEnd, watchLineage } from './watch-lineage.ts';

const event = (position: number): RecordedEvent => ({
  id: `e${position}`,
  root: 'l',
  stream: 'lineage-l',
  version: position,
  cursor: { epoch: 1, xid: '5', position: String(position) },
  type: 'node_ready',
  schema_version: 1,
  data: {},
  metadata: { causation_id: 'c', correlation_id: 'l', producer: 'p', actor: 'local' },
  occurred_at: '2026-01-15T09:30:00.000Z',
  hash: 'h',
});
const endedAt = (position: number, status: Lineage['status'] = 'completed'): Ended => ({
  ended: true,
  // Only what the watch reads.
  lineage: { status, cursor: `1.5.${position}` } as Lineage,
});

/** A client whose events and end come in the order that a test says. */
const scripted = (script: {
  readonly end: Promise<Ended>;
  readonly events: readonly (RecordedEvent | Promise<unknown>)[];
}) => {
  async function* follow(_: string, { signal }: { signal?: AbortSignal | undefined } = {}) {
    for (const each of script.events) {
      if (each instanceof Promise) await each;
      else yield each;
    }
    await new Promise((resolve) => {
      if (signal?.aborted) resolve(null);
      signal?.addEventListener('abort', () => resolve(null));
    });
  }
  return { follow, waitForEnd: () => script.end } as unknown as Client;
};

const watch = async (client: Client, signal = new AbortController().signal) => {
  const told: string[] = [];
  const end = await watchLineage(client, 'l', { timeoutMs: 1, signal, onEvent: ({ id }) => void told.push(id) });
  return { told, code: codeOfEnd(end) };
};

describe('watching a lineage', () => {
  test('tells what comes after the end was seen, up to the last event', async () => {
    const end = Promise.resolve(endedAt(3, 'blocked'));
    const client = scripted({ end, events: [event(1), end, event(2), event(3)] });
    expect(await watch(client)).toEqual({ told: ['e1', 'e2', 'e3'], code: EXIT.blocked });
  });
  test('ends too when the end is seen after its last event', async () => {
    const { promise, resolve } = Promise.withResolvers<Ended>();
    setTimeout(() => resolve(endedAt(2, 'human')), 20);
    expect(await watch(scripted({ end: promise, events: [event(1), event(2)] }))).toEqual({
      told: ['e1', 'e2'],
      code: EXIT.human,
    });
  });
  test('says when the time ran out', async () => {
    const client = scripted({ end: Promise.resolve({ ended: false, lineage: null }), events: [event(1)] });
    expect((await watch(client)).code).toBe(EXIT.timedOut);
  });
  test('stops when nobody reads any more', async () => {
    const gone = new AbortController();
    setTimeout(() => gone.abort(), 20);
    const client = scripted({ end: new Promise(() => undefined), events: [event(1)] });
    expect((await watch(client, gone.signal)).told).toEqual(['e1']);
  });
});

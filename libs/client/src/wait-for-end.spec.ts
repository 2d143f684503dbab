import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import type { Lineage } from '@fixpoint/contracts/rest/audit';
import { describe, expect, test } from '@jest/globals';
import { ApiError, Unreachable } from './api-error.ts';
import { waitForEnd } from './wait-for-end.ts';

const event = (type: string, position: number): RecordedEvent => ({
  id: `e${position}`,
  root: 'r1',
  stream: 'lineage-r1',
  version: position,
  cursor: { epoch: 1, xid: '5', position: String(position) },
  type,
  schema_version: 1,
  data: {},
  metadata: { causation_id: 'c', correlation_id: 'r1', producer: 'p', actor: 'local' },
  occurred_at: '2026-01-15T09:30:00.000Z',
  hash: 'h',
});

/** Only what the wait reads. */
const lineage = (status: Lineage['status']): Lineage => ({ status }) as Lineage;
const refused = (status: number) =>
  new ApiError({ status, code: 'c', detail: '', diagnostics: [], retryAfterMs: null });

/** Answers with one after the other; the last one again and again. */
const watched = (answers: readonly (Lineage | Error)[], events: readonly RecordedEvent[] = []) => {
  const asked: (string | undefined)[] = [];
  return {
    asked,
    lineage: (after?: string): Promise<Lineage> => {
      const answer = answers[Math.min(asked.push(after), answers.length) - 1] ?? lineage('running');
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    },
    async *events(signal: AbortSignal) {
      yield* events;
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
    },
  };
};

describe('waiting for the end of a lineage', () => {
  test.each(['completed', 'degraded', 'blocked', 'human'] as const)(
    'that is %s already takes one question',
    async (status) => {
      const seen = watched([lineage(status)]);
      expect(await waitForEnd(seen, 5_000)).toEqual({ ended: true, lineage: { status } });
      expect(seen.asked).toEqual([undefined]);
    },
  );

  test('looks again only after what can decide, and asks to be shown that', async () => {
    const events = [event('node_ready', 1), event('task_completed', 2), event('task_completed', 3)];
    const seen = watched([lineage('running'), lineage('running'), lineage('completed')], events);
    expect((await waitForEnd(seen, 5_000)).ended).toBe(true);
    expect(seen.asked).toEqual([undefined, '1.5.2', '1.5.3']);
  });

  test.each([
    ['is away', new Unreachable('gone')],
    ['is behind', refused(503)],
  ])('asks again when the reader of the last event %s, for no other event will come', async (_, error) => {
    const seen = watched([lineage('running'), error, lineage('human')], [event('human_required', 7)]);
    expect(await waitForEnd(seen, 30_000)).toEqual({ ended: true, lineage: { status: 'human' } });
    expect(seen.asked).toEqual([undefined, '1.5.7', '1.5.7']);
  });

  test('waits for one that is not shown yet', async () => {
    const seen = watched([refused(404), lineage('completed')], [event('task_completed', 1)]);
    expect((await waitForEnd(seen, 5_000)).ended).toBe(true);
  });

  test('B21: says what it saw last when the time runs out', async () => {
    expect(await waitForEnd(watched([lineage('running')]), 20)).toEqual({
      ended: false,
      lineage: { status: 'running' },
    });
    const away = watched([new Unreachable('gone')], [event('task_completed', 1)]);
    expect(await waitForEnd(away, 20)).toEqual({ ended: false, lineage: null });
  });

  test('does not wait for what is refused for good', async () => {
    await expect(waitForEnd(watched([refused(401)]), 5_000)).rejects.toMatchObject({ status: 401 });
  });
});

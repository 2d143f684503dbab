import { messagesOf } from '@fixpoint/client/server-sent-events';
import {
  eventPageSchema,
  lineageDetailSchema,
  lineagePageSchema,
  runPageSchema,
  taskPageSchema,
} from '@fixpoint/contracts/rest/audit';
import { handoffDetailSchema, handoffPageSchema } from '@fixpoint/contracts/rest/audit-handoffs';
import { cursorToken } from '@fixpoint/contracts/rest/cursor-token';
import { deadLetterDetailSchema, deadLetterPageSchema } from '@fixpoint/contracts/rest/dead-letters';
import { errorBodySchema } from '@fixpoint/contracts/rest/errors';
import { providerPageSchema } from '@fixpoint/contracts/rest/providers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asked, claimed, inLineage, secondCause } from '../projections/handoff-history.fixture.ts';
import { ready, repaired, runOf, submitted, telling } from '../projections/history.fixture.ts';
import { deadLettered, deadLetterReplayed, LETTER } from '../projections/letter-history.fixture.ts';
import { HOST, providerFaulted, providerPaused } from '../projections/provider-history.fixture.ts';
import { append } from '../projections/store-history.fixture.ts';
import { type AuditApp, auditApp } from './audit-app.fixture.ts';

const HASH = 'c'.repeat(64);
let app: AuditApp;
let after: string;
let events: number;

const cursorOf = async (stream: string): Promise<string> => {
  const [last] = (await app.store.readStream(stream)).slice(-1);
  if (!last) throw new Error(`${stream} is empty`);
  return cursorToken(last.cursor);
};

beforeAll(async () => {
  app = await auditApp({ [HASH]: ['first ', 'second'] });
  const { told, tell } = telling();
  repaired('r1', { told, tell });
  const own = told.length;
  events = own + 2;
  for (const step of [providerFaulted(), providerPaused(8, null)]) tell(`provider-${HOST}`, `provider-${HOST}`, step);
  tell(`dead-${LETTER}`, `dead-${LETTER}`, deadLettered(5, { event_id: told[0]?.event.id ?? '' }));
  tell(`dead-${LETTER}`, `dead-${LETTER}`, deadLetterReplayed(1));
  tell('dead-executor-2', 'dead-executor-2', deadLettered(5, { root: null, event_id: 'never stored' }));
  tell('lineage-r2', 'r2', submitted('r2', { project: 'other', goal: 'a\0b' }));
  const asking = [asked(), secondCause(), claimed('2999-01-01T00:00:00.000Z')];
  for (const event of asking) tell('lineage-r2', 'r2', inLineage('r2', event));
  await append(app.store, told);
  after = await cursorOf('lineage-r2');
});
afterAll(() => app.close());

const get = (path: string, headers: Record<string, string> = {}) => fetch(`${app.url}/v1/audit/${path}`, { headers });
const json = async (path: string): Promise<unknown> => (await get(path)).json();
const problem = async (path: string, headers: Record<string, string> = {}) => {
  const answer = await get(path, headers);
  return { status: answer.status, code: errorBodySchema.parse(await answer.json()).code };
};

describe('read API', () => {
  test('shows a write to a reader that names its cursor', async () => {
    const page = lineagePageSchema.parse(await json(`lineages?after=${after}`));
    expect(page.items.map(({ lineage, status, goal }) => [lineage, status, goal])).toEqual([
      ['r2', 'human', 'a␀b'],
      ['r1', 'completed', 'Dependencies are updated'],
    ]);
  });

  test('lists providers that were paused, and who waits for a human', async () => {
    const page = providerPageSchema.parse(await json(`providers?status=human&after=${after}`));
    expect(page.items).toMatchObject([{ provider: HOST, status: 'human', count: 8, paused_until: null }]);
    expect(providerPageSchema.parse(await json('providers?status=paused')).items).toEqual([]);
  });

  test('lists dead letters, and shows one with its event and its history', async () => {
    const page = deadLetterPageSchema.parse(await json(`dead-letters?after=${after}`));
    expect(page.items.map(({ letter, status }) => [letter, status])).toEqual([
      ['executor-2', 'parked'],
      [LETTER, 'replayed'],
    ]);
    const mine = deadLetterPageSchema.parse(await json('dead-letters?lineage=r1&status=replayed'));
    expect(mine.items.map(({ letter }) => letter)).toEqual([LETTER]);
    const detail = deadLetterDetailSchema.parse(await json(`dead-letters/${LETTER}`));
    expect([detail.event?.type, detail.history.map(({ type }) => type)]).toEqual([
      'task_submitted',
      ['dead_lettered', 'dead_letter_replayed'],
    ]);
    expect(deadLetterDetailSchema.parse(await json('dead-letters/executor-2')).event).toBeNull();
    expect(await problem('dead-letters/nobody')).toEqual({ status: 404, code: 'dead_letter_unknown' });
  });

  test('lists what humans are asked for, and shows one with everything that was said of it', async () => {
    const list = async (query: string) => handoffPageSchema.parse(await json(`handoffs?after=${after}${query}`)).items;
    const mine = '&project=other&task=r2&status=open&help=budget&claimed=true';
    expect((await list(mine)).map(({ handoff, project }) => [handoff, project])).toEqual([['r2.h1', 'other']]);
    for (const other of [
      '&project=web-shop',
      '&help=choice',
      '&project=other&claimed=false',
      '&status=decided',
      '&lineage=r1',
    ]) {
      expect([other, await list(other)]).toEqual([other, []]);
    }
    const [ofProvider] = await list('&help=infrastructure&status=open');
    expect(ofProvider).toMatchObject({ handoff: `provider-${HOST}`, task: HOST, project: '', expires_at: null });
    const told = handoffDetailSchema.parse(await json(`handoffs/provider-${HOST}`)).history;
    expect(told.map(({ type }) => type)).toEqual(['provider_paused']);
    const detail = handoffDetailSchema.parse(await json('handoffs/r2.h1'));
    expect(detail.claimed).toBe(true);
    expect(detail.history.map(({ type }) => type)).toEqual(['human_required', 'handoff_updated', 'handoff_claimed']);
    expect(await problem('handoffs/nobody')).toEqual({ status: 404, code: 'handoff_unknown' });
  });

  test('answers every question in its own shape', async () => {
    const tasks = taskPageSchema.parse(await json(`tasks?lineage=r1&after=${after}`));
    expect(tasks.items.map(({ task }) => task)).toEqual(['r1.f1', 'r1']);
    const runs = runPageSchema.parse(await json(`runs?lineage=r1&status=judged&after=${after}`));
    expect(runs.items).toHaveLength(3);
    const page = eventPageSchema.parse(await json(`events?lineage=r1&limit=5&after=${after}`));
    expect(page.items.map(({ type }) => type).slice(0, 2)).toEqual(['task_submitted', 'node_ready']);
    const detail = lineageDetailSchema.parse(await json(`lineages/r1?after=${after}`));
    expect(detail.tree.children.map(({ task }) => task)).toEqual(['r1.f1']);
    expect(detail.events).toBe(events);
  });

  test('E14 a filter by project shows nothing of another, whatever else is asked for', async () => {
    for (const path of ['lineages', 'tasks', 'runs', 'events']) {
      expect(await json(`${path}?project=other&lineage=r1&after=${after}`)).toEqual({ items: [], next: null });
    }
  });

  test('answers 304 to a reader who has exactly this, and the new content when something changed', async () => {
    const path = `lineages?after=${after}`;
    const etag = (await get(path)).headers.get('etag') ?? '';
    const again = await get(path, { 'if-none-match': `"other", W/${etag}` });
    expect([again.status, await again.text()]).toEqual([304, '']);
    expect((await get(`tasks?after=${after}`, { 'if-none-match': etag })).status).toBe(200);
  });

  test.each([
    ['lineages?limit=0', 'request_invalid'],
    ['lineages?limit=1001', 'request_invalid'],
    ['tasks?status=happy', 'request_invalid'],
    ['runs?colour=red', 'request_invalid'],
    ['events?since=yesterday', 'request_invalid'],
    ['events?limit=5&limit=6', 'request_invalid'],
    ['lineages?cursor=x', 'cursor_invalid'],
    ['events?cursor=WyJhIl0', 'cursor_invalid'],
    ['events/stream', 'request_invalid'],
  ])('%s is refused with %s', async (path, code) => {
    expect(await problem(path)).toEqual({ status: 400, code });
  });

  test.each([
    ['lineages/nobody', 'lineage_unknown'],
    ['lineages/%00', 'lineage_unknown'],
    [`artifacts/${'d'.repeat(64)}`, 'artifact_unknown'],
    ['artifacts/..%2f..%2fetc', 'artifact_unknown'],
  ])('%s is not found', async (path, code) => {
    expect(await problem(path)).toEqual({ status: 404, code });
  });

  test('E1 a filter with NUL finds what is shown with its picture, and nothing breaks', async () => {
    expect(await json('events?lineage=%00&type=%00')).toEqual({ items: [], next: null });
  });

  test('streams an artifact', async () => {
    const answer = await get(`artifacts/${HASH}`);
    expect(answer.headers.get('content-type')).toBe('application/octet-stream');
    expect(await answer.text()).toBe('first second');
  });
});

const first = async <Item>(followed: AsyncIterable<Item>, count: number): Promise<Item[]> => {
  const seen: Item[] = [];
  for await (const item of followed) {
    seen.push(item);
    if (seen.length === count) break;
  }
  return seen;
};

describe('event stream', () => {
  test('shows what there is, then what happens, and goes on where a reader was', async () => {
    const all = await first(app.client.follow('r1'), events);
    const { items } = await app.client.events({ lineage: 'r1', after });
    expect(all).toEqual(items);
    const third = all[2] && cursorToken(all[2].cursor);
    expect(await first(app.client.follow('r1', { since: third }), events - 3)).toEqual(all.slice(3));

    const live = first(app.client.follow('r3'), 2);
    const { told, tell } = telling();
    tell('lineage-r3', 'r3', submitted('r3'));
    tell('lineage-r3', 'r3', ready(runOf('r3', 'r3', 1)));
    await append(app.store, told);
    expect((await live).map(({ type }) => type)).toEqual(['task_submitted', 'node_ready']);
  });

  test('goes on after the id that a browser names', async () => {
    const stop = new AbortController();
    const { items } = await app.client.events({ lineage: 'r1', after });
    const last = items.at(-2);
    const headers = { 'last-event-id': last ? cursorToken(last.cursor) : '' };
    const answer = await fetch(`${app.url}/v1/audit/events/stream?lineage=r1`, { headers, signal: stop.signal });
    if (!answer.body) throw new Error('a stream has a body');
    const [message] = await first(messagesOf(answer.body), 1);
    stop.abort();
    expect(JSON.parse(message?.data ?? '{}')).toEqual(items.at(-1));
    expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  });

  test('refuses to go on after an id that is none', async () => {
    expect(await problem('events/stream?lineage=r1', { 'last-event-id': 'x' })).toEqual({
      status: 400,
      code: 'cursor_invalid',
    });
  });

  test('tells a client that waits when a lineage has ended', async () => {
    expect(await app.client.waitForEnd('r1', 5_000)).toMatchObject({ ended: true, lineage: { status: 'completed' } });
    const waiting = app.client.waitForEnd('r4', 10_000);
    const { told, tell } = telling();
    repaired('r4', { told, tell });
    await append(app.store, told);
    expect(await waiting).toMatchObject({ ended: true, lineage: { status: 'completed', fix_attempts: 1 } });
  });
});

test('stops while readers follow', async () => {
  const other = await auditApp();
  const answer = await fetch(`${other.url}/v1/audit/events/stream?lineage=r1`);
  const body = answer.text().catch(() => 'cut');
  await other.close();
  expect(await body).toContain('retry: 1000');
}, 20_000);

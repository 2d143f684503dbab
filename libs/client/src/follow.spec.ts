import type { ServerResponse } from 'node:http';
import type { Lineage } from '@fixpoint/contracts/rest/audit';
import { afterEach, describe, expect, test } from '@jest/globals';
import { type Answer, type Api, api, sendJson } from './api.fixture.ts';
import { ApiError } from './api-error.ts';

const event = (n: number, type = 'node_ready') => ({
  id: `e${n}`,
  root: 'r1',
  stream: 'lineage-r1',
  version: n,
  cursor: { epoch: 1, xid: String(n), position: String(n) },
  type,
  schema_version: 1,
  data: {},
  metadata: { causation_id: 'c', correlation_id: 'r1', producer: 'p', actor: 'local' },
  occurred_at: '2026-01-02T03:04:05.006Z',
  hash: 'h',
});
type Event = ReturnType<typeof event>;

let open: Api[] = [];
afterEach(async () => {
  await Promise.all(open.map(({ close }) => close()));
  open = [];
});

const serving = async (answer: Answer): Promise<Api> => {
  const started = await api(answer);
  open.push(started);
  return started;
};

const stream = (response: ServerResponse, events: readonly Event[]): ServerResponse => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write('retry: 1000\n\n');
  for (const each of events) response.write(`id: 1.${each.version}.${each.version}\ndata: ${JSON.stringify(each)}\n\n`);
  return response;
};

const first = async (events: AsyncIterable<{ version: number }>, count: number): Promise<number[]> => {
  const versions: number[] = [];
  for await (const { version } of events) {
    versions.push(version);
    if (versions.length === count) break;
  }
  return versions;
};

const sinceOf = (url: string | undefined): number =>
  Number(new URL(url ?? '', 'http://x').searchParams.get('since')?.split('.')[1] ?? 0);

describe('following a lineage', () => {
  test('goes on where it was when the connection breaks, and loses and repeats nothing', async () => {
    const { client, asked } = await serving((request, response) => {
      const since = sinceOf(request.url);
      stream(response, [event(since + 1), event(since + 2)]);
      // Cut in the middle of a third one.
      response.write('id: 1.9.9\ndata: {"id"', () => response.destroy());
    });
    expect(await first(client.follow('r1'), 5)).toEqual([1, 2, 3, 4, 5]);
    expect(asked).toEqual(
      [1, 2, 3].map(
        (n) => `GET /v1/audit/events/stream?lineage=r1${n > 1 ? `&since=1.${2 * n - 2}.${2 * n - 2}` : ''}`,
      ),
    );
  });

  test('lets go of the connection when the reader leaves', async () => {
    const { promise: gone, resolve } = Promise.withResolvers<boolean>();
    const { client } = await serving((_request, response) => {
      stream(response, [event(1)]).on('close', () => resolve(true));
    });
    await first(client.follow('r1'), 1);
    expect(await gone).toBe(true);
  });

  test('ends when it is told to', async () => {
    const stop = new AbortController();
    const { client } = await serving((_request, response) => {
      stream(response, [event(1)]);
      stop.abort();
    });
    expect((await first(client.follow('r1', { signal: stop.signal }), 9)).length).toBeLessThanOrEqual(1);
  });

  test('asks for pages where streams do not get through', async () => {
    const { client, asked } = await serving((request, response) => {
      if (request.url?.includes('/stream')) return response.writeHead(200, { 'content-type': 'text/html' }).end('no');
      const since = sinceOf(request.url);
      return sendJson(response, 200, { items: since < 4 ? [event(since + 1), event(since + 2)] : [], next: null });
    });
    expect(await first(client.follow('r1', { since: '1.2.2' }), 2)).toEqual([3, 4]);
    expect(asked.filter((url) => url.includes('/stream'))).toHaveLength(3);
    expect(asked.at(-1)).toBe('GET /v1/audit/events?lineage=r1&since=1.2.2&limit=500');
  });

  test('waits out an API that is away, and gives up on one that refuses', async () => {
    let answers = 0;
    const { client } = await serving((_request, response) => {
      answers += 1;
      if (answers === 1) sendJson(response, 503, { code: 'unavailable', detail: '', diagnostics: [] });
      else if (answers === 2) stream(response, [event(1)]).end();
      else sendJson(response, 401, { code: 'unauthenticated', detail: '', diagnostics: [] });
    });
    const seen: number[] = [];
    const all = (async () => {
      for await (const { version } of client.follow('r1')) seen.push(version);
    })();
    await expect(all).rejects.toThrow(ApiError);
    expect(seen).toEqual([1]);
  });
});

const lineage = (status: Lineage['status']): Lineage => ({
  lineage: 'r1',
  project: 'p',
  mode: 'build',
  name: 'n',
  goal: '',
  labels: {},
  status,
  halt_type: null,
  raw_halt_type: null,
  depth: 0,
  fix_attempts: 0,
  fix_attempts_left: null,
  children: 0,
  children_left: null,
  split_depth: 0,
  open_handoffs: 0,
  money_micros: 0,
  tokens: 0,
  runs: 0,
  events: 1,
  rung: 'none',
  protocol: 'default@1',
  started_at: '2026-01-02T03:04:05.006Z',
  ended_at: null,
  deadline_at: '2026-01-02T03:04:05.006Z',
  cursor: '1.1.1',
});

const tree = {
  ...{ lineage: 'r1', task: 'r1', address: '0', parent: null, kind: 'root', project: 'p', name: 'n', goal: '' },
  ...{ status: 'running', halt_type: null, raw_halt_type: null, rung: 'none', depth: 0, fix_attempts: 0, runs: 0 },
  ...{
    ...{ split_depth: 0, epic: null, affinity: 0 },
    nodes: 1,
    node: null,
    skipped: [],
    output: null,
    output_artifact: null,
    triggering_validators: [],
    started_at: '2026-01-02T03:04:05.006Z',
    ended_at: null,
  },
  ...{ cursor: '1.1.1', children: [] },
};

describe('waiting for the end', () => {
  test('looks again at what can change the status only, and asks for what it has seen', async () => {
    const { client, asked } = await serving((request, response) => {
      if (request.url?.includes('/stream'))
        stream(response, [event(1), event(2, 'task_completed'), event(3, 'human_required')]);
      else if (request.url === '/v1/audit/lineages/r1?after=1.3.3')
        sendJson(response, 200, { ...lineage('human'), tree });
      else sendJson(response, 200, { ...lineage('running'), tree });
    });
    expect(await client.waitForEnd('r1', 5_000)).toMatchObject({ ended: true, lineage: { status: 'human' } });
    expect(asked.filter((url) => !url.includes('/stream'))).toEqual(
      ['', '?after=1.2.2', '?after=1.3.3'].map((query) => `GET /v1/audit/lineages/r1${query}`),
    );
  });

  test('B21 has an end of its own and tells what it saw', async () => {
    const { client } = await serving((request, response) => {
      if (request.url?.includes('/stream')) stream(response, []);
      else sendJson(response, 200, { ...lineage('running'), tree });
    });
    expect(await client.waitForEnd('r1', 100)).toMatchObject({ ended: false, lineage: { status: 'running' } });
  });

  test('a lineage that is not there yet is waited for', async () => {
    let isThere = false;
    const { client } = await serving((request, response) => {
      if (request.url?.includes('/stream')) {
        isThere = true;
        stream(response, [event(1, 'task_completed')]);
      } else if (isThere) sendJson(response, 200, { ...lineage('completed'), tree });
      else sendJson(response, 404, { code: 'lineage_unknown', detail: '', diagnostics: [] });
    });
    expect(await client.waitForEnd('r1', 5_000)).toMatchObject({ ended: true, lineage: { status: 'completed' } });
  });
});

import { afterEach, describe, expect, test } from '@jest/globals';
import { type Answer, type Api, api, sendJson } from './api.fixture.ts';
import { ApiError, UnexpectedAnswer, Unreachable } from './api-error.ts';
import { fixpointClient } from './client.ts';

const submitted = { lineage: 'r1', spec_hash: 'a', created: true, cursor: '1.2.3', diagnostics: [] };

let open: Api[] = [];
afterEach(async () => {
  await Promise.all(open.map(({ close }) => close()));
  open = [];
});

const serving = async (answer: Answer, options?: Parameters<typeof api>[1]): Promise<Api> => {
  const started = await api(answer, options);
  open.push(started);
  return started;
};

const failure = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'no error',
    (error: unknown) => error,
  );

describe('client', () => {
  test('sends a task with its key, and who it is', async () => {
    let seen: unknown;
    const { client, asked } = await serving(
      ({ headers }, response, body) => {
        seen = [headers.authorization, headers['content-type'], JSON.parse(body)];
        sendJson(response, 202, submitted);
      },
      { apiKey: 'secret' },
    );
    expect(await client.submit({ document: 'name: a', idempotency_key: 'k' })).toEqual(submitted);
    expect(asked).toEqual(['POST /v1/tasks']);
    expect(seen).toEqual(['Bearer secret', 'application/json', { document: 'name: a', idempotency_key: 'k' }]);
  });

  test('sends nothing about itself without a key, and filters as a query', async () => {
    let authorization: string | undefined = 'unset';
    const { client, asked } = await serving(({ headers }, response) => {
      ({ authorization } = headers);
      sendJson(response, 200, { items: [], next: null });
    });
    await client.tasks({ lineage: 'a b', limit: 7, status: undefined });
    await client.runs();
    expect(authorization).toBeUndefined();
    expect(asked).toEqual(['GET /v1/audit/tasks?lineage=a+b&limit=7', 'GET /v1/audit/runs']);
  });

  test('a batch has one result per task', async () => {
    const results = [
      { outcome: 'accepted', http_status: 202, ...submitted },
      { outcome: 'refused', http_status: 400, code: 'document_invalid', detail: 'line 1', diagnostics: [] },
    ];
    const { client } = await serving((_request, response) => sendJson(response, 200, { results }));
    expect((await client.submitBatch([{ document: 'a' }, { document: 'b' }])).results).toEqual(results);
  });

  test('a refusal has its status, its code and what is wrong with the document', async () => {
    const complaint = {
      code: 'FX103',
      severity: 'error',
      message: 'm',
      hint: 'h',
      path: '/policy',
      line: 3,
      column: 5,
    };
    const { client } = await serving((_request, response) => {
      response.setHeader('retry-after', '2');
      sendJson(response, 400, { code: 'document_invalid', detail: 'one error', diagnostics: [complaint] });
    });
    const error = await failure(client.publishProtocol('x'));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      status: 400,
      code: 'document_invalid',
      detail: 'one error',
      diagnostics: [complaint],
      retryAfterMs: 2000,
    });
  });

  test('an error page of something in between is an API error too', async () => {
    const { client } = await serving((_request, response) => response.writeHead(502).end('<html>Bad gateway</html>'));
    expect(await failure(client.lineage('r1'))).toMatchObject({ status: 502, code: 'unknown', retryAfterMs: null });
  });

  test.each([
    ['another shape', '{"items":[{"lineage":1}],"next":null}'],
    ['no JSON', 'hello'],
  ])('an answer of %s is not this API', async (_name, text) => {
    const { client } = await serving((_request, response) => response.end(text));
    expect(await failure(client.lineages())).toBeInstanceOf(UnexpectedAnswer);
  });

  test('nobody listening is said with the address and the reason', async () => {
    const { url, close } = await api(() => undefined);
    await close();
    const client = fixpointClient({ writeUrl: url, auditUrl: url, apiKey: null });
    const error = await failure(client.lineages());
    expect(error).toBeInstanceOf(Unreachable);
    expect(String(error)).toContain(url);
    expect(String(error)).toContain('ECONNREFUSED');
  });

  test('a server that does not answer costs no more than the time allowed', async () => {
    const { client } = await serving(() => undefined, { timeoutMs: 100 });
    expect(String(await failure(client.submit({ document: 'a' })))).toContain('no answer within 100 ms');
  });

  test('an artifact comes as it is', async () => {
    const { client } = await serving((_request, response) => response.end(Buffer.from([0, 255, 10])));
    const chunks: Uint8Array[] = [];
    for await (const chunk of await client.artifact('a'.repeat(64))) chunks.push(chunk);
    expect(Buffer.concat(chunks)).toEqual(Buffer.from([0, 255, 10]));
  });
});

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ProviderState } from '@fixpoint/contracts/rest/providers';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { commandLine } from '../command-line.fixture.ts';

const AT = '2026-01-01T00:00:00.000Z';
const row: ProviderState = {
  ...{ provider: 'git.example.org', status: 'human', class: 'network', detail: 'no route', reason: 'probe_failed' },
  ...{ count: 8, since: AT, paused_until: null, probe: null, asked_by: null, seen_at: AT, changed_at: AT },
  cursor: '1.2.3',
};

let server: Server;
let url = '';
const asked: string[] = [];

const answer = (path: string): readonly [number, unknown] => {
  if (path.includes('nowhere')) return [404, { code: 'provider_unknown', detail: 'no such', diagnostics: [] }];
  if (path.startsWith('/v1/audit/')) return [200, { items: path.includes('paused') ? [] : [row], next: null }];
  return [200, { provider: 'git.example.org', changed: !path.includes('model'), cursor: null }];
};

const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  asked.push(`${request.method} ${request.url} ${body}`.trim());
  const [status, value] = answer(request.url ?? '');
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
};

beforeAll(async () => {
  server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
beforeEach(() => void asked.splice(0));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const providers = (...args: readonly string[]) => commandLine(['providers', ...args], { env: { FIXPOINT_URL: url } });

describe('providers', () => {
  test('lists how they stand, or only some', async () => {
    const { code, stdout } = await providers();
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/git\.example\.org +human +- +8 +network +probe_failed +no route/),
    ]);
    expect(await providers('list', '--json')).toMatchObject({ stdout: `${JSON.stringify(row)}\n` });
    expect(await providers('--status', 'paused')).toMatchObject({ stdout: 'no providers\n' });
    expect(asked.at(-1)).toBe('GET /v1/audit/providers?status=paused&limit=500');
  });

  test('has one tried, and says when there was nothing to do', async () => {
    const tried = await providers('resume', 'git.example.org', '--reason', 'it is back');
    expect(tried).toMatchObject({ code: 0, stdout: expect.stringContaining('probes it') });
    expect(await providers('resume', 'model.default')).toMatchObject({ stdout: expect.stringContaining('not paused') });
    expect(asked[0]).toBe('POST /v1/providers/git.example.org/resume {"reason":"it is back"}');
  });

  test('says that there is no such provider', async () => {
    const { code, stderr } = await providers('resume', 'nowhere');
    expect([code, stderr]).toEqual([5, expect.stringContaining('provider_unknown')]);
  });

  test.each([[['--status', 'lost']], [['resume']]])('%j is said to be wrong, exit code 2', async (args) => {
    expect(await providers(...args)).toMatchObject({ code: 2, stdout: '' });
  });
});

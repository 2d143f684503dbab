import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { DeadLetterRow } from '@fixpoint/contracts/rest/dead-letters';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { commandLine } from '../command-line.fixture.ts';

const AT = '2026-01-01T00:00:00.000Z';
const row: DeadLetterRow = {
  ...{ letter: 'validator-1', status: 'parked', service: 'validator', reader: 'validator__gate', event_id: 'e1' },
  ...{ event_type: 'node_ready', event_version: 9, lineage: 'r1', task: 'r1', run: 1, deliveries: 5, replays: 0 },
  ...{ reason: 'event_version_unknown', actor: null, discarded_because: null, parked_at: AT, changed_at: AT },
  cursor: '1.2.3',
};
const step = {
  ...{ id: 's1', root: 'dead-validator-1', stream: 'dead-validator-1', version: 1, type: 'dead_lettered' },
  ...{ cursor: { epoch: 1, xid: '2', position: '3' }, schema_version: 1, data: {}, occurred_at: AT, hash: 'ab' },
  metadata: { causation_id: 'c', correlation_id: 'r1', producer: 'validator__gate', actor: 'ci' },
};

let server: Server;
let url = '';
const asked: string[] = [];

const answer = (path: string, body: string): readonly [number, unknown] => {
  if (path.includes('gone')) return [404, { code: 'dead_letter_unknown', detail: 'there is none', diagnostics: [] }];
  if (path.endsWith('/replay') || path.endsWith('/discard')) {
    const status = path.endsWith('/replay') ? 'replayed' : 'discarded';
    const changed = body.includes('true') || path.endsWith('/discard');
    return [200, { letter: 'validator-1', status, deliveries: 5, replays: 1, changed, cursor: '1.2.3' }];
  }
  if (path.startsWith('/v1/audit/dead-letters?')) return [200, { items: [row], next: null }];
  return [200, { ...row, event: null, history: [step] }];
};

const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  asked.push(`${request.method} ${request.url} ${body}`.trim());
  const [status, value] = answer(request.url ?? '', body);
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

const dlq = (...args: readonly string[]) => commandLine(['dlq', ...args], { env: { FIXPOINT_URL: url } });

describe('dlq', () => {
  test('lists what is parked, and everything when told to', async () => {
    const { code, stdout } = await dlq('list');
    expect([code, stdout]).toEqual([0, expect.stringContaining('validator-1  parked')]);
    expect(await dlq('list', '--status', 'all', '--reader', 'validator__gate', '--json')).toMatchObject({
      stdout: `${JSON.stringify(row)}\n`,
    });
    expect(asked).toEqual([
      'GET /v1/audit/dead-letters?status=parked&limit=500',
      'GET /v1/audit/dead-letters?reader=validator__gate&limit=500',
    ]);
  });

  test('shows who gave up what, why, and what was done about it', async () => {
    const { code, stdout } = await dlq('show', 'validator-1');
    expect(code).toBe(0);
    for (const text of ['validator__gate gave up node_ready v9', 'event_version_unknown', 'dead_lettered  by ci']) {
      expect(stdout).toContain(text);
    }
  });

  test('replays each letter, and says so when it had been before', async () => {
    expect(await dlq('replay', 'validator-1')).toMatchObject({ code: 0, stdout: expect.stringContaining('--again') });
    expect(await dlq('replay', 'validator-1', '--again')).toMatchObject({ stdout: 'validator-1: replayed\n' });
    expect(asked).toEqual([
      'POST /v1/dead-letters/validator-1/replay {"again":false}',
      'POST /v1/dead-letters/validator-1/replay {"again":true}',
    ]);
  });

  test('discards with a reason; one that is not known stops no other and makes the exit code 5', async () => {
    const { code, stdout, stderr } = await dlq('discard', 'gone', 'validator-1', '--reason', 'taken back');
    expect([code, stdout]).toEqual([5, 'validator-1: discarded\n']);
    expect(stderr).toContain('gone: there is none (dead_letter_unknown)');
    expect(asked.at(-1)).toBe('POST /v1/dead-letters/validator-1/discard {"reason":"taken back"}');
  });

  test.each([[['list', '--status', 'lost']], [['show']], [['replay']], [['revive', 'x']]])(
    '%j is said to be wrong, exit code 2',
    async (args) => {
      expect(await dlq(...args)).toMatchObject({ code: 2, stdout: '' });
    },
  );
});

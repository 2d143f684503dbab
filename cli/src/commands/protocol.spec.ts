import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ProtocolVersionRow } from '@fixpoint/contracts/rest/protocols';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { commandLine } from '../command-line.fixture.ts';

const row: ProtocolVersionRow = {
  ...{ project: 'shop', name: 'strict', version: 1, hash: 'ab'.repeat(32), published_at: '2026-01-01T00:00:00.000Z' },
  withdrawn: null,
};
const change = { path: 'modes.build.bounds.execute', from: 2, to: 5 };

let server: Server;
let url = '';
const asked: string[] = [];

const answer = (path: string): unknown => {
  if (path.endsWith('/withdraw')) return { ...row, changed: true, cursor: '1.2.3' };
  if (path.includes('/diff')) return { project: 'shop', from: 1, to: 2, changes: [change] };
  if (path.endsWith('/1')) return { ...row, spec: { name: 'strict', project: 'shop', modes: {} } };
  return { versions: [row] };
};

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer(request.url ?? '')));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
beforeEach(() => void asked.splice(0));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const protocol = (...args: readonly string[]) => commandLine(['protocol', ...args], { env: { FIXPOINT_URL: url } });

describe('protocol', () => {
  test('lists versions and shows one', async () => {
    expect((await protocol('list', 'shop')).stdout).toContain('1        strict');
    expect((await protocol('list', 'shop', '--json')).stdout).toBe(`${JSON.stringify(row)}\n`);
    expect((await protocol('show', 'shop', '1')).stdout).toContain('"modes": {}');
    expect(asked).toEqual(['GET /v1/protocols/shop', 'GET /v1/protocols/shop', 'GET /v1/protocols/shop/1']);
  });

  test('says what two versions say differently', async () => {
    const { code, stdout } = await protocol('diff', 'shop', '1', '2');
    expect([code, stdout.trim()]).toEqual([0, 'modes.build.bounds.execute\n  - 2\n  + 5']);
    expect(asked).toEqual(['GET /v1/protocols/shop/diff?from=1&to=2']);
  });

  test('withdraws a version for a reason, and not without one', async () => {
    expect(await protocol('withdraw', 'shop', '1', '--reason', 'too lax')).toMatchObject({
      ...{ code: 0, stdout: 'withdrew strict@1 of project shop\n' },
    });
    expect((await protocol('withdraw', 'shop', '1')).code).toBe(2);
    expect((await protocol('withdraw', 'shop', 'one', '--reason', 'x')).code).toBe(2);
    expect(asked).toEqual(['POST /v1/protocols/shop/1/withdraw']);
  });
});

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { commandLine } from '../command-line.fixture.ts';

let server: Server;
let url = '';
const asked: string[] = [];

beforeAll(async () => {
  server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    asked.push(`${request.method} ${request.url} ${body}`);
    const submitted = { lineage: 'r1', spec_hash: 'a', created: true, cursor: '1.2.3', diagnostics: [] };
    response.writeHead(202, { 'content-type': 'application/json' }).end(JSON.stringify(submitted));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
beforeEach(() => void asked.splice(0));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const escalate = (stdin: string, ...args: readonly string[]) =>
  commandLine(['escalate', '-', ...args], { env: { FIXPOINT_URL: url }, stdin });

describe('escalate', () => {
  test('hands over what stands in the document, and prints the lineage', async () => {
    const { code, stdout } = await escalate('what: It counts\nstage: review\nproject: shop\n', '--key', 'k');
    expect([code, stdout]).toEqual([0, 'r1\n']);
    expect(asked[0]).toContain('POST /v1/escalations {"what":"It counts","stage":"review"');
    expect(asked[0]).toContain('"idempotency_key":"k"');
  });

  test('says what is wrong with one, and sends nothing', async () => {
    expect(await escalate('what: It counts\n')).toMatchObject({ code: 2, stderr: expect.stringContaining('stage') });
    expect((await escalate('what: [\n')).code).toBe(2);
    expect(asked).toEqual([]);
  });
});

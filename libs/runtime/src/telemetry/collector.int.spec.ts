import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { eventually } from '@fixpoint/testing/eventually';
import { afterEach, describe, expect, test } from '@jest/globals';
import { type App, startApp } from '../started-app.fixture.ts';

let app: App | null = null;
let server: Server | null = null;
afterEach(async () => {
  app?.child.kill('SIGKILL');
  await app?.ended;
  app = null;
  server?.close();
  server?.closeAllConnections();
  server = null;
});

/** @returns where it listens. */
const collector = async (answer: RequestListener): Promise<string> => {
  server = createServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A server on TCP has an address of this kind.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const start = async (endpoint: string, rest: Readonly<Record<string, string>> = {}): Promise<string> => {
  app = startApp('slow', {
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_METRICS_EXPORTER: 'none',
    ...rest,
  });
  return (await app.until('ready')).url ?? '';
};

const stop = async (): Promise<number | string | undefined> => {
  app?.child.kill('SIGTERM');
  return app?.ended;
};

const ask = async (url: string): Promise<number> => (await fetch(`${url}/v1/nothing`)).status;

describe('a process with telemetry', () => {
  test('sends what is left when it is asked to stop', async () => {
    const bodies: string[] = [];
    const url = await start(
      await collector(async (request, response) => {
        bodies.push(await text(request));
        response.setHeader('content-type', 'application/json').end('{}');
      }),
      { OTEL_BSP_SCHEDULE_DELAY: '600000' },
    );
    expect(await ask(url)).toBe(404);
    expect(bodies).toEqual([]);
    expect(await stop()).toBe(0);
    expect(bodies.join()).toContain('"name":"GET unknown"');
  });

  test('shows its metrics to Prometheus', async () => {
    const free = new URL(await collector(() => undefined)).port;
    server?.close();
    app = startApp('slow', { OTEL_METRICS_EXPORTER: 'prometheus', OTEL_EXPORTER_PROMETHEUS_PORT: free });
    await ask((await app.until('ready')).url ?? '');
    await eventually('the request was counted', async () => {
      const shown = await (await fetch(`http://localhost:${free}/metrics`)).text();
      return /^http_server_request_duration_count\{.*http_route="unknown".*\} 1$/m.test(shown);
    });
    expect(await stop()).toBe(0);
  });

  test('works and stops in time though the collector never answers', async () => {
    const url = await start(await collector(() => undefined), { OTEL_BSP_SCHEDULE_DELAY: '1' });
    for (let request = 0; request < 20; request += 1) expect(await ask(url)).toBe(404);
    expect(await stop()).toBe(0);
    expect(app?.said).not.toContain('stopping took too long');
  }, 20_000);

  test('works, and says why nothing arrives, though there is no collector', async () => {
    // Nobody listens there: the port was free a moment ago.
    const endpoint = await collector(() => undefined);
    server?.close();
    const url = await start(endpoint, { OTEL_BSP_SCHEDULE_DELAY: '1', OTEL_EXPORTER_OTLP_TIMEOUT: '300' });
    expect(await ask(url)).toBe(404);
    await app?.until('telemetry is not getting through');
    expect(await ask(url)).toBe(404);
    expect(await stop()).toBe(0);
  }, 20_000);
});

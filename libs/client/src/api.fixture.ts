import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Client, fixpointClient } from './client.ts';

export type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

export interface Api {
  readonly client: Client;
  readonly url: string;
  /** `GET /v1/audit/tasks?limit=1` of every request so far. */
  readonly asked: string[];
  close(): Promise<void>;
}

/** A server that answers as a test says, and a client of it. */
export const api = async (answer: Answer, options: { apiKey?: string; timeoutMs?: number } = {}): Promise<Api> => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => answer(request, response, body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const { apiKey = null, timeoutMs = 5_000 } = options;
  const client = fixpointClient({ writeUrl: url, auditUrl: `${url}/`, apiKey, timeoutMs });
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { client, url, asked, close };
};

export const sendJson = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

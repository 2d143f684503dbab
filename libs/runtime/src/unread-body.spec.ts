import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { greetingModule } from './example.fixture.ts';
import { infrastructureModule } from './infrastructure.ts';
import { silentLog } from './log.ts';
import { memoryInfrastructure } from './memory-infrastructure.fixture.ts';
import { type Running, start } from './start.ts';

let running: Running | null = null;
afterEach(async () => {
  await running?.close();
  running = null;
});

const MIB = 1024 * 1024;

/** Writes a body to its end like a client that looks at the answer only then. @returns what came back. */
const written = async (mebibytes: number, framing: 'length' | 'chunked'): Promise<string> => {
  const { hostname, port } = new URL(running?.url ?? '');
  const socket = connect({ host: hostname, port: Number(port) });
  let answer = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    answer += text;
  });
  const closed = once(socket, 'close');
  const head = framing === 'length' ? `content-length: ${mebibytes * MIB}` : 'transfer-encoding: chunked';
  socket.write(`POST /v1/greetings HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n${head}\r\n\r\n`);
  const part = 'x'.repeat(MIB);
  for (let sent = 0; sent < mebibytes; sent += 1) {
    const text = framing === 'length' ? part : `${MIB.toString(16)}\r\n${part}\r\n`;
    // A broken pipe rejects here, if the server had the time to break it.
    await new Promise<void>((resolve, reject) => {
      socket.write(text, (error) => (error ? reject(error) : setTimeout(resolve, 20)));
    });
  }
  if (framing === 'chunked') socket.write('0\r\n\r\n');
  await closed;
  return answer;
};

describe('a body that is refused before it was read', () => {
  test.each(['length', 'chunked'] as const)(
    'of 8 MiB is answered with 413, and no pipe breaks: %s',
    async (framing) => {
      const modules = [greetingModule(infrastructureModule(memoryInfrastructure()))];
      running = await start(modules, {
        http: { host: '127.0.0.1', port: 0, apiKeys: [] },
        log: silentLog,
        drainMs: 1_000,
      });
      const answer = await written(8, framing);
      expect(answer).toMatch(/^HTTP\/1\.1 413 /);
      expect(answer).toContain('payload_too_large');
    },
  );
});

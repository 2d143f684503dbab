import { access, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { dockerAnswers } from './docker.ts';
import { type NatsOptions, startNats } from './nats.ts';

const SYSTEM_PATH = '/usr/local/bin:/usr/bin:/bin';

const isGone = (path: string): Promise<boolean> =>
  access(path).then(
    () => false,
    () => true,
  );

describe('a NATS for this process', () => {
  let base = '';
  let options: NatsOptions;
  beforeEach(async () => {
    base = await mkdtemp(join(tmpdir(), 'fixpoint-nats-spec-'));
    const folder = join(base, 'nats');
    options = {
      url: null,
      dockerHost: null,
      path: SYSTEM_PATH,
      install: false,
      folder,
      temporary: true,
      port: null,
      onProgress: () => undefined,
    };
  });
  afterEach(async () => {
    await rm(base, { recursive: true, force: true });
  });

  test('a given URL is used as it is and not stopped', async () => {
    const server = await startNats({ ...options, url: 'nats://elsewhere:4222' });
    expect(server).toMatchObject({ kind: 'url', url: 'nats://elsewhere:4222' });
  });

  test('where the server is missing and may not be installed, it says so', async () => {
    expect(await startNats({ ...options, path: '' })).toEqual({ kind: 'none', reason: 'nats-server is not installed' });
  });

  test('where there is no package manager, installing is declined with a reason', async () => {
    const answer = await startNats({ ...options, path: '', install: true });
    expect(answer).toMatchObject({ kind: 'none', reason: expect.stringMatching(/only root|no apt-get/) });
  });

  test('a temporary one listens on a free port and leaves no folder and no process', async () => {
    const server = await startNats({ ...options, install: true });
    if (server.kind === 'none') throw new Error(server.reason);
    expect(server.url).toMatch(/^nats:\/\/127\.0\.0\.1:\d+$/);
    const { server: pid } = JSON.parse(await readFile(join(options.folder, 'server.json'), 'utf8'));
    expect(await isGone(`/proc/${pid}`)).toBe(false);
    await server.stop();
    expect(await isGone(options.folder)).toBe(true);
    expect(await isGone(`/proc/${pid}`)).toBe(true);
  }, 200_000);

  test('a port that somebody else has is an error that names the log', async () => {
    const first = await startNats({ ...options, install: true });
    if (first.kind === 'none') throw new Error(first.reason);
    const port = Number(URL.parse(first.url)?.port);
    const folder = join(base, 'second');
    await expect(startNats({ ...options, install: true, folder, port })).rejects.toThrow(join(folder, 'server.log'));
    await first.stop();
  }, 200_000);
});

describe('a Docker engine', () => {
  test('is believed only when it answers a ping', async () => {
    const engine = createServer((request, response) => {
      response.writeHead(request.url === '/_ping' ? 200 : 404).end('OK');
    });
    await new Promise<void>((resolve) => engine.listen(0, '127.0.0.1', resolve));
    const at = engine.address();
    const port = typeof at === 'object' && at !== null ? at.port : 0;
    expect(await dockerAnswers(`tcp://127.0.0.1:${port}`)).toBe(true);
    engine.close();
  });
});

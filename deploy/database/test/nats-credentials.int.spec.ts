import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findNatsServer, installNatsServer } from '@fixpoint/backing-services/nats-binary';
import { jetstreamBus } from '@fixpoint/messaging/jetstream-bus';
import { systemClock } from '@fixpoint/runtime/system-clock';
import { eventually } from '@fixpoint/testing/eventually';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import getPort from 'get-port';
import { composeFile, interpolated } from './compose-file.ts';
import { testEnvironment } from './secrets.ts';

const environment = testEnvironment();
let folder: string;
let stop: () => Promise<unknown>;
let port: number;
let monitor: number;

const natsServer = async (): Promise<string> => {
  const path = process.env.PATH ?? '';
  const found = (await findNatsServer(path)) ?? (await installNatsServer(path, () => undefined));
  if (typeof found !== 'string') throw new Error(found.reason);
  return found;
};

/** The server with the arguments of the compose file, but for its places. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fixpoint-compose-nats-'));
  port = await getPort();
  monitor = await getPort();
  const command = composeFile().services.nats?.command ?? [];
  const places: Readonly<Record<string, string>> = { '--store_dir': folder, '--http_port': String(monitor) };
  const args = command.map((argument) => {
    const [flag = ''] = argument.split('=', 1);
    return flag in places ? `${flag}=${places[flag]}` : interpolated(argument, environment);
  });
  const server = spawn(await natsServer(), [...args, '--addr=127.0.0.1', `--port=${port}`], { stdio: 'ignore' });
  const exited = once(server, 'exit');
  stop = () => {
    server.kill('SIGTERM');
    return exited;
  };
  await eventually('NATS is healthy', async () => {
    const answer = await fetch(`http://127.0.0.1:${monitor}/healthz`).catch(() => null);
    return answer?.ok === true;
  });
});
afterAll(async () => {
  await stop();
  await rm(folder, { recursive: true });
});

const bus = (password: string) => {
  const url = interpolated(composeFile().services.executor?.environment.FIXPOINT_NATS_URL ?? '', {
    ...environment,
    FIXPOINT_NATS_PASSWORD: password,
  }).replace('nats:4222', `127.0.0.1:${port}`);
  return jetstreamBus({
    url,
    namespace: 'compose',
    name: 'test',
    maxBytes: 32 * 1024 * 1024,
    clock: systemClock,
    report: () => undefined,
    spread: () => false,
    load: () => Promise.reject(new Error('nothing to load here')),
  });
};

test('the address that services are given opens the NATS of the compose file, and no other one does', async () => {
  const right = bus(environment.FIXPOINT_NATS_PASSWORD ?? '');
  await right.ready(20_000);
  await right.close();
  const wrong = bus('guessed');
  await expect(wrong.ready(1_000)).rejects.toThrow();
  await wrong.close();
});

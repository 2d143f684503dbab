import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { Refused } from '@fixpoint/decider/refused';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Controller, type DynamicModule, Get } from '@nestjs/common';
import { greetingModule } from './example.fixture.ts';
import { HealthCheck } from './health.ts';
import { infrastructureModule } from './infrastructure.ts';
import { silentLog } from './log.ts';
import { loop } from './loop.ts';
import { memoryInfrastructure } from './memory-infrastructure.fixture.ts';
import { BusContribution } from './readers.ts';
import { type Running, start } from './start.ts';
import { systemClock } from './system-clock.ts';

const sha256 = (secret: string): string => createHash('sha256').update(secret).digest('hex');
const keys = [
  { name: 'ann', role: 'writer', sha256: sha256('ann-secret') },
  { name: 'bob', role: 'reader', sha256: sha256('bob-secret') },
] as const;

let running: Running | null = null;
afterEach(async () => {
  await running?.close();
  running = null;
});

const startWith = async (modules: readonly DynamicModule[], apiKeys: readonly (typeof keys)[number][] = []) => {
  const http = { host: '127.0.0.1', port: 0, apiKeys };
  running = await start(modules, { http, log: silentLog, drainMs: 1_000 });
  return running;
};

const startExample = (apiKeys: readonly (typeof keys)[number][] = []) =>
  startWith([greetingModule(infrastructureModule(memoryInfrastructure()))], apiKeys);

const call = async (path: string, init: RequestInit = {}) => {
  const response = await fetch(`${running?.url}${path}`, init);
  const body: unknown = await response.json();
  return { status: response.status, body };
};

const json = { 'content-type': 'application/json' };
const post = (body: string, headers: Readonly<Record<string, string>> = {}): RequestInit => ({
  method: 'POST',
  body,
  headers: { ...json, ...headers },
});

/** `fetch` does not let a caller name another host. */
const statusForHost = (host: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const asked = request(`${running?.url}/v1/greetings`, { headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    asked.on('error', reject).end();
  });

describe('an API', () => {
  test('gives controllers a body that its schema has accepted', async () => {
    await startExample();
    expect(await call('/v1/greetings', post('{"name":"Eve"}'))).toEqual({
      status: 202,
      body: { greeting: 'local greets Eve' },
    });
    expect(await call('/v1/greetings?limit=7')).toMatchObject({ status: 200, body: { limit: 7 } });
  });

  test.each([
    ['a body that its schema refuses', post('{"name":""}'), 400, 'request_invalid'],
    ['a missing body', { method: 'POST', headers: json }, 400, 'request_invalid'],
    ['a body that is not JSON', post('{"name"'), 400, 'body_not_json'],
    ['an integer that JSON cannot keep', post('{"name":12345678901234567890}'), 400, 'integer_beyond_2_53'],
    [
      'a form',
      post('name=Eve', { 'content-type': 'application/x-www-form-urlencoded' }),
      415,
      'unsupported_media_type',
    ],
    ['a body over 1 MiB', post(`{"name":"${'x'.repeat(1024 * 1024)}"}`), 413, 'payload_too_large'],
  ] as const)('refuses %s', async (_what, init, status, code) => {
    await startExample();
    expect(await call('/v1/greetings', init)).toMatchObject({ status, body: { code, detail: expect.any(String) } });
  });

  test('says where a schema was missed', async () => {
    await startExample();
    const { body } = await call('/v1/greetings', post('{"name":"Eve","age":7}'));
    expect(body).toMatchObject({ diagnostics: [{ code: 'schema', severity: 'error', line: null, column: null }] });
  });

  test('answers what is not there with 404 and a code', async () => {
    await startExample();
    expect(await call('/v1/greetings/nobody')).toMatchObject({ status: 404, body: { code: 'greeting_unknown' } });
    expect(await call('/v1/elsewhere')).toMatchObject({ status: 404, body: { code: 'not_found', diagnostics: [] } });
  });

  test('maps a refusal to 409, a fault to 503 and a bug to 500', async () => {
    const errors = [new Refused('task_ended', 'task 7'), new Error('connection lost'), new TypeError('a bug')];
    await startWith([failing(errors)]);
    const answers = [await call('/fail'), await call('/fail'), await call('/fail')];
    expect(answers).toMatchObject([
      { status: 409, body: { code: 'task_ended', detail: 'task 7', diagnostics: [] } },
      { status: 503, body: { code: 'unavailable' } },
      { status: 500, body: { code: 'internal' } },
    ]);
  });
});

const failing = (errors: Error[]): DynamicModule => {
  @Controller('fail')
  class FailController {
    @Get()
    fail() {
      throw errors.shift();
    }
  }
  return { module: class {}, controllers: [FailController] };
};

describe('an API without keys', () => {
  test.each(['0.0.0.0', '::', '10.1.2.3', 'example.org'])('is not started on %s', async (host) => {
    const refused = async () => {
      running = await start([], { http: { host, port: 0, apiKeys: [] }, log: silentLog, drainMs: 0 });
    };
    await expect(refused()).rejects.toThrow(/without API keys/);
  });

  test('answers no page of another origin', async () => {
    await startExample();
    const answer = await call('/v1/greetings', post('{"name":"Eve"}', { origin: 'https://evil.example' }));
    expect(answer).toMatchObject({ status: 403, body: { code: 'origin_not_allowed' } });
  });

  test('answers under no foreign name', async () => {
    await startExample();
    expect([await statusForHost('evil.example'), await statusForHost('localhost:4100')]).toEqual([403, 200]);
  });
});

describe('an API with keys', () => {
  const as = (secret: string): RequestInit => ({ headers: { authorization: `Bearer ${secret}` } });

  test('may be started for others', async () => {
    const http = { host: '0.0.0.0', port: 0, apiKeys: keys };
    running = await start([], { http, log: silentLog, drainMs: 0 });
    expect(running.url).toMatch(/:\d+$/);
  });

  test('answers nobody without a key', async () => {
    await startExample(keys);
    expect(await call('/v1/greetings')).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
    expect(await call('/v1/greetings', as('guess'))).toMatchObject({ status: 401 });
    expect(await call('/v1/elsewhere')).toMatchObject({ status: 401 });
  });

  test('lets readers read and writers write, by name', async () => {
    await startExample(keys);
    const write = (secret: string) =>
      call('/v1/greetings', post('{"name":"Eve"}', { authorization: `Bearer ${secret}` }));
    expect(await call('/v1/greetings', as('bob-secret'))).toMatchObject({ status: 200 });
    expect(await write('bob-secret')).toMatchObject({ status: 403, body: { code: 'role_insufficient' } });
    expect(await write('ann-secret')).toMatchObject({ status: 202, body: { greeting: 'ann greets Eve' } });
  });

  test('keeps what needs an admin from a writer', async () => {
    await startExample(keys);
    const forget = post('', { authorization: 'Bearer ann-secret' });
    expect(await call('/v1/greetings/forget', forget)).toMatchObject({
      status: 403,
      body: { code: 'role_insufficient' },
    });
  });

  test('shows its health to everybody', async () => {
    await startExample(keys);
    expect(await call('/health/live')).toEqual({ status: 200, body: { live: true } });
    expect(await call('/health/ready')).toMatchObject({ status: 200, body: { ready: true } });
  });
});

describe('readiness', () => {
  test('names what readers, loops and modules say', async () => {
    await startExample();
    expect(await running?.ready()).toEqual({
      ready: true,
      checks: ['loop count', 'bus', 'reader greeter__greet_back'].map((name) => ({ name, healthy: true, detail: '' })),
    });
  });

  test('is lost when one check fails', async () => {
    const check = new HealthCheck('store', () => Promise.reject(new Error('no connection')));
    await startWith([{ module: class {}, providers: [{ provide: 'CHECK', useValue: check }] }]);
    expect(await call('/health/ready')).toEqual({
      status: 503,
      body: { ready: false, checks: [{ name: 'store', healthy: false, detail: 'no connection' }] },
    });
  });
});

describe('two services in one process', () => {
  test('share one infrastructure, which is released once, last', async () => {
    const order: string[] = [];
    const infrastructure = infrastructureModule(memoryInfrastructure(async () => void order.push('released')));
    const stopping = {
      onModuleDestroy: () => order.push('asked to stop'),
      beforeApplicationShutdown: () => order.push('done'),
    };
    const services = [class A {}, class B {}].map((module) => ({
      module,
      imports: [infrastructure],
      providers: [{ provide: 'WORK', useFactory: () => ({ ...stopping }) }],
    }));
    const { close } = await startWith(services);
    await Promise.all([close(), close()]);
    expect(order).toEqual(['asked to stop', 'asked to stop', 'done', 'done', 'released']);
  });
});

describe('a stop', () => {
  test('does not wait for a connection on which nothing was ever asked', async () => {
    const { url, close } = await startExample();
    const socket = connect(Number(new URL(url ?? '').port), '127.0.0.1');
    const ended = once(socket, 'close');
    await once(socket, 'connect');
    await call('/v1/greetings');
    await close();
    await ended;
    expect(socket.destroyed).toBe(true);
  });
});

describe('the README', () => {
  test('shows the example that these tests run', () => {
    const example = readFileSync(new URL('./example.fixture.ts', import.meta.url), 'utf8');
    const shown = example.replaceAll(/from '\.\/([a-z-]+)\.ts'/g, "from '@fixpoint/runtime/$1'");
    expect(readFileSync(new URL('../README.md', import.meta.url), 'utf8')).toContain(shown);
  });

  test('keeps loops going until the work in hand is done: they renew what it lives by', async () => {
    let rounds = 0;
    const renewals = loop(
      'renewals',
      async (signal) => {
        rounds += 1;
        await systemClock.sleep(5, signal);
      },
      { clock: systemClock, log: silentLog },
    );
    const workUntilRenewed = async (): Promise<void> => {
      const until = rounds + 3;
      for (let waits = 0; rounds < until && waits < 200; waits += 1) await systemClock.sleep(5);
    };
    const work = new BusContribution('work', async () => ({ healthy: () => true, drain: workUntilRenewed }));
    const imports = [infrastructureModule(memoryInfrastructure())];
    const providers = [
      { provide: 'RENEWALS', useValue: renewals },
      { provide: 'WORK', useValue: work },
    ];
    await startWith([{ module: class {}, imports, providers }]);
    const before = rounds;
    await running?.close();
    expect(rounds).toBeGreaterThanOrEqual(before + 3);
  });
});

describe('a loop in a list', () => {
  class ListModule {}

  test('is refused, because nothing would start it', async () => {
    const options = { clock: systemClock, log: silentLog };
    const step = (signal: AbortSignal) => systemClock.sleep(1_000, signal);
    const module: DynamicModule = {
      module: ListModule,
      imports: [infrastructureModule(memoryInfrastructure())],
      providers: [{ provide: 'LOOPS', useFactory: () => [loop('lost', step, options)] }],
    };
    await expect(startWith([module])).rejects.toThrow('loop lost: in a list');
  });
});

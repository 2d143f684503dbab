import { existsSync, readFileSync } from 'node:fs';
import { parseConfig as auditor, auditorSettings } from '@fixpoint/auditor/config';
import { parseConfig as decomposer, decomposerSettings } from '@fixpoint/decomposer/config';
import { parseConfig as executor, executorSettings } from '@fixpoint/executor/config';
import { parseConfig as orchestrator, orchestratorSettings } from '@fixpoint/orchestrator/config';
import type { Settings } from '@fixpoint/runtime/settings';
import { parseConfig as validator, validatorSettings } from '@fixpoint/validator/config';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { parseConfig as database, databaseSettings } from '../src/config.ts';
import { environmentFile } from '../src/new-environment.ts';
import { loginOf, SERVICES } from '../src/service-logins.ts';
import { composeFile, interpolated, variablesIn } from './compose-file.ts';
import { testEnvironment } from './secrets.ts';

const file = composeFile();
const text = readFileSync(new URL('../../../docker-compose.yml', import.meta.url), 'utf8');
const environment = testEnvironment();

type Env = Readonly<Record<string, string>>;

const OURS: Readonly<Record<string, { readonly settings: Settings; readonly parse: (env: Env) => unknown }>> = {
  orchestrator: { settings: orchestratorSettings, parse: orchestrator },
  validator: { settings: validatorSettings, parse: validator },
  executor: { settings: executorSettings, parse: executor },
  decomposer: { settings: decomposerSettings, parse: decomposer },
  auditor: { settings: auditorSettings, parse: auditor },
  database: { settings: databaseSettings, parse: database },
};
const ours = Object.entries(OURS);

const serviceOf = (name: string) => {
  const service = file.services[name];
  if (service === undefined) throw new Error(`no service ${name}`);
  return service;
};

const envOf = (name: string): Env =>
  Object.fromEntries(
    Object.entries(serviceOf(name).environment).map(([key, value]) => [key, interpolated(value, environment)]),
  );

describe('docker-compose.yml', () => {
  test('has Postgres, NATS, the database job and the five services', () => {
    expect(Object.keys(file.services).sort()).toEqual([...SERVICES, 'database', 'nats', 'postgres'].sort());
  });

  test.each(ours)('gives %s variables that it reads, and all that it needs', (name, { settings }) => {
    const read = Object.values(settings);
    const given = Object.keys(serviceOf(name).environment);
    expect(given.filter((key) => !read.some((setting) => setting.key === key))).toEqual([]);
    const needed = read.filter(({ fallback }) => fallback === null).map(({ key }) => key);
    expect(needed.filter((key) => !given.includes(key))).toEqual([]);
  });

  test.each(ours)('gives %s values that fit, out of a new .env', (name, { parse: parseConfig }) => {
    expect(() => parseConfig(envOf(name))).not.toThrow();
  });

  test('needs every secret of a new .env but the one for people, and has no default for any', () => {
    const used = variablesIn(text);
    const needed = new Set(used.filter(({ fallback }) => fallback === null).map(({ name }) => name));
    const { FIXPOINT_API_KEY: _, ...secrets } = environment;
    expect([...needed].sort()).toEqual(Object.keys(secrets).sort());
    expect(used.filter(({ fallback }) => fallback !== null)).toEqual([
      { name: 'FIXPOINT_IMAGE', fallback: 'fixpoint' },
      { name: 'FIXPOINT_PUBLISH', fallback: '127.0.0.1' },
      { name: 'FIXPOINT_LOG_LEVEL', fallback: 'info' },
      { name: 'FIXPOINT_PUBLISH', fallback: '127.0.0.1' },
    ]);
    for (const name of needed) {
      const without = { ...environment, [name]: '' };
      expect(() => interpolated(text.replaceAll(/^\s*#.*$/gm, ''), without)).toThrow(name);
    }
  });

  test('publishes two APIs, on this machine only, and those ask for keys', () => {
    const published = Object.entries(file.services).filter(([, { ports }]) => ports.length > 0);
    expect(published.map(([name]) => name).sort()).toEqual(['auditor', 'orchestrator']);
    for (const [name, { ports }] of published) {
      const port = OURS[name]?.settings.port?.fallback;
      expect(ports.map((each) => interpolated(each, environment))).toEqual([`127.0.0.1:${port}:${port}`]);
      expect(envOf(name)).toMatchObject({ FIXPOINT_HOST: '0.0.0.0', FIXPOINT_API_KEYS: expect.stringMatching(/./) });
    }
    const listening = ours.filter(([name]) => 'FIXPOINT_HOST' in envOf(name)).map(([name]) => name);
    expect(listening.sort()).toEqual(['auditor', 'orchestrator']);
  });

  test.each(SERVICES)('has %s log in as itself, ask its own health, and be given time to stop', (name) => {
    const service = serviceOf(name);
    const url = new URL(envOf(name).FIXPOINT_POSTGRES_URL ?? '');
    expect([url.username, url.password]).toEqual([
      loginOf(name),
      environment[`FIXPOINT_${name.toUpperCase()}_PASSWORD`],
    ]);
    const { port, drainMs } = OURS[name]?.settings ?? {};
    expect(service.healthcheck?.test.join(' ')).toContain(`http://127.0.0.1:${port?.fallback}/health/ready`);
    expect(Number(service.stop_grace_period?.replace(/s$/, '')) * 1000).toBeGreaterThan(Number(drainMs?.fallback));
    expect([service.restart, service.depends_on]).toEqual([
      'unless-stopped',
      { database: { condition: 'service_completed_successfully' }, nats: { condition: 'service_healthy' } },
    ]);
  });

  test.each(ours)('starts what the image has for %s', (name) => {
    const [main = ''] = serviceOf(name).command;
    const source = main.replace('/dist/', '/src/').replace(/\.js$/, '.ts');
    expect(existsSync(new URL(`../../../${source}`, import.meta.url))).toBe(true);
    expect(serviceOf(name).build).toEqual({ context: '.', dockerfile: 'deploy/images/Dockerfile' });
  });

  test('names only what it declares, declares only what it names, and pins what others made', () => {
    const all = Object.values(file.services);
    const networks = all.flatMap((service) => service.networks);
    const volumes = all.flatMap((service) => service.volumes.map((volume) => volume.split(':')[0] ?? ''));
    const secrets = all.flatMap((service) => service.secrets);
    for (const [used, declared] of [
      [networks, file.networks],
      [volumes, file.volumes],
      [secrets, file.secrets],
    ] as const) {
      expect([...new Set(used)].sort()).toEqual(Object.keys(declared).sort());
    }
    const others = all.flatMap((service) => Object.keys(service.depends_on));
    expect(others.filter((name) => !(name in file.services))).toEqual([]);
    for (const name of ['postgres', 'nats']) expect(serviceOf(name).image).toMatch(/:\d+(?:\.\d+)?-[a-z]+$/);
    expect(file.networks.inside).toEqual({ internal: true });
    for (const name of ['postgres', 'nats']) expect(serviceOf(name).networks).toEqual(['inside']);
  });

  test('keeps its data where each image writes it', () => {
    for (const name of ['executor', 'validator']) {
      expect(serviceOf(name).volumes).toEqual([`${name}:${OURS[name]?.settings.folder?.fallback}`]);
    }
    expect(serviceOf('nats').command).toContain('--store_dir=/data');
    expect(serviceOf('nats').volumes).toEqual(['nats:/data']);
    expect(serviceOf('postgres').volumes).toEqual(['postgres:/var/lib/postgresql']);
  });
});

describe('a new .env', () => {
  test('is read by Compose as it is meant, and has no secret twice', () => {
    const lines = environmentFile(environment).split('\n').slice(1, -1);
    const read = Object.fromEntries(
      lines.map((line) => {
        const [, name = '', value = ''] = /^([A-Z_]+)='([^'\n]*)'$/.exec(line) ?? [];
        return [name, value];
      }),
    );
    expect(read).toEqual(environment);
    expect(new Set(Object.values(environment)).size).toBe(Object.keys(environment).length);
  });

  test('gives the executor no key that could sign', () => {
    expect(JSON.stringify(parse(environment.FIXPOINT_TOKEN_PUBLIC_KEYS ?? ''))).not.toContain('"d"');
    expect(Object.keys(serviceOf('executor').environment)).not.toContain('FIXPOINT_TOKEN_SIGNING_KEYS');
  });
});

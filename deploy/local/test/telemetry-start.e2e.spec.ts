import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { startService } from './service-program.ts';

const HOOK = fileURLToPath(new URL('./loaded-modules.mjs', import.meta.url));
const SERVICES = ['orchestrator', 'validator', 'executor', 'decomposer', 'auditor'];

/** Everything that a service loads until it finds that it has no database, in order. */
const loadedBy = async (service: string, env: Readonly<Record<string, string>>): Promise<readonly string[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'fixpoint-loaded-'));
  try {
    const main = fileURLToPath(new URL(`../../../services/${service}/dist/main.js`, import.meta.url));
    const file = join(folder, 'modules');
    const child = spawn(process.execPath, ['--import', HOOK, main], {
      env: { PATH: '/usr/bin:/bin', LOADED_MODULES: file, ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child.stderr.resume();
    expect(await once(child, 'exit')).toEqual([1, null]);
    return (await readFile(file, 'utf8')).split('\n');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

const placeOf = (modules: readonly string[], part: string): number => modules.findIndex((url) => url.includes(part));

describe('a service', () => {
  test.each(SERVICES)(
    'loads nothing of OpenTelemetry, and wraps no adapter, when nobody asks for it: the %s',
    async (service) => {
      const modules = await loadedBy(service, {});
      expect(placeOf(modules, '/@nestjs/core/')).toBeGreaterThan(0);
      expect(modules.filter((url) => /@opentelemetry|telemetry\/(traced-|sdk|otel-)/.test(url))).toEqual([]);
    },
  );

  test('starts telemetry before anything else of it is loaded', async () => {
    const modules = await loadedBy('validator', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' });
    const sdk = placeOf(modules, '/@opentelemetry/sdk-node/');
    expect(sdk).toBeGreaterThan(0);
    expect(placeOf(modules, '/services/validator/dist/serve.js')).toBeGreaterThan(sdk);
    expect(placeOf(modules, '/@nestjs/core/')).toBeGreaterThan(sdk);
  });

  test('whose telemetry does not fit says so, together with all else that does not', async () => {
    const { ended, log } = startService('auditor', {
      OTEL_TRACES_EXPORTER: 'zipkin',
      OTEL_TRACES_SAMPLER: 'sometimes',
    });
    expect(await ended()).toBe(1);
    expect(log()).toMatch(/OTEL_TRACES_EXPORTER: "zipkin"/);
    expect(log()).toMatch(/OTEL_TRACES_SAMPLER: "sometimes".*always_on/);
    expect(log()).toMatch(/FIXPOINT_POSTGRES_URL is not set/);
    expect(log()).not.toMatch(/node_modules|file:/);
  });

  test('whose port for Prometheus is taken says so and does not start', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    // A server on TCP has an address of this kind.
    const port = String((server.address() as AddressInfo).port);
    const { ended, log } = startService('auditor', {
      OTEL_METRICS_EXPORTER: 'prometheus',
      OTEL_EXPORTER_PROMETHEUS_HOST: '127.0.0.1',
      OTEL_EXPORTER_PROMETHEUS_PORT: port,
    });
    expect(await ended()).toBe(1);
    expect(log()).toContain(`OTEL_EXPORTER_PROMETHEUS_PORT: /metrics cannot listen on 127.0.0.1:${port}`);
    server.close();
  });
});

import { argv, env } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DynamicModule } from '@nestjs/common';
import { infrastructureModule } from './infrastructure.ts';
import { createLog } from './log.ts';
import { loop } from './loop.ts';
import { memoryInfrastructure } from './memory-infrastructure.fixture.ts';
import { run } from './run.ts';
import { systemClock } from './system-clock.ts';
import { startTelemetry } from './telemetry/start-telemetry.ts';

/** A process for run.int.spec.ts; its argument says how it behaves. */
const [behaviour] = argv.slice(2);
const telemetry = await startTelemetry('app', env);
const mixin = telemetry === null ? {} : { mixin: telemetry.logFields };
const log = createLog({ name: 'app', mode: 'json', level: 'info', ...mixin });
telemetry?.reportTo(log);

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));

const steps: Readonly<Record<string, (signal: AbortSignal) => Promise<void>>> = {
  /** Finishes its work in hand. */
  slow: async (signal) => {
    await untilAborted(signal);
    await sleep(200);
    log.info({}, 'work in hand is done');
  },
  /** Never ends. */
  hanging: async (signal) => {
    await untilAborted(signal);
    log.info({}, 'hanging');
    await new Promise(() => setInterval(() => undefined, 1_000));
  },
  throwing: async () => {
    setImmediate(() => {
      throw new Error('nobody catches this');
    });
    await sleep(60_000);
  },
  rejecting: async () => {
    void Promise.reject(new Error('nobody awaits this'));
    await sleep(60_000);
  },
};

const appModule = (): DynamicModule => {
  const step = steps[behaviour ?? 'slow'] ?? (() => sleep(60_000));
  return {
    module: class App {},
    imports: [infrastructureModule(memoryInfrastructure(async () => log.info({}, 'released')))],
    providers: [{ provide: 'LOOP', useFactory: () => loop('work', step, { clock: systemClock, log }) }],
  };
};

const compose = async (): Promise<DynamicModule[]> => {
  if (behaviour === 'broken') throw new Error('Postgres does not answer');
  return [appModule()];
};

await run('app', compose, { http: { host: '127.0.0.1', port: 0, apiKeys: [] }, log, drainMs: 1_000, telemetry });

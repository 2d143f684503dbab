import type { DynamicModule } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { BusTransport } from './bus-transport.ts';
import { contributed, unhooked } from './contributions.ts';
import { HealthCheck, type HealthReport, healthReport } from './health.ts';
import { addHealthRoutes, createApp, type HttpOptions, refuseOpenApi } from './http-server.ts';
import { BUS, CLOCK } from './infrastructure.ts';
import type { Log } from './log.ts';
import { Loop } from './loop.ts';
import { BusContribution } from './readers.ts';
import type { Telemetry } from './telemetry/telemetry.ts';

export interface StartOptions {
  /** Null for a process without an API (and without health endpoints). */
  readonly http: HttpOptions | null;
  readonly log: Log;
  /** Time for the work in hand when the process stops, ms. */
  readonly drainMs: number;
  /** Null or left out: none. */
  readonly telemetry?: Telemetry | null;
}

/** A started application. */
export interface Running {
  /** `http://127.0.0.1:4100`; null without an API. */
  readonly url: string | null;
  ready(): Promise<HealthReport>;
  /**
   * Stops: no new work, work in hand awaited for at most `drainMs`, then HTTP, then what it was built on. A second call
   * awaits the first.
   */
  close(): Promise<void>;
}

interface Parts {
  readonly app: NestFastifyApplication;
  readonly transport: BusTransport | null;
}

const connectTransport = (app: NestFastifyApplication, { log, drainMs }: StartOptions): BusTransport | null => {
  const contributions = contributed(app, BusContribution);
  if (contributions.length === 0) return null;
  const strict = { strict: false };
  const transport = new BusTransport(app.get(BUS, strict), contributions, {
    clock: app.get(CLOCK, strict),
    log,
    drainMs,
  });
  app.connectMicroservice({ strategy: transport });
  return transport;
};

const listen = async (app: NestFastifyApplication, http: HttpOptions | null): Promise<string | null> => {
  if (http === null) {
    await app.init();
    return null;
  }
  await app.listen(http.port, http.host);
  return app.getUrl();
};

const running = ({ app, transport }: Parts, { log, drainMs }: StartOptions) => {
  let isStopping = false;
  let closed: Promise<void> | null = null;
  const checks = (): HealthCheck[] => [
    ...contributed(app, HealthCheck),
    ...contributed(app, Loop).map((each) => each.health),
    ...(transport?.health ?? []),
  ];

  const close = async (): Promise<void> => {
    isStopping = true;
    log.info({ drain_ms: drainMs }, 'stopping');
    // Readers stop taking work now. Loops go on until their work is done: it lives by leases that a loop renews.
    await transport?.close();
    await app.close();
    log.info({}, 'stopped');
  };
  return {
    ready: () => healthReport(checks(), isStopping),
    close: (): Promise<void> => {
      closed ??= close();
      return closed;
    },
  };
};

/** @throws when a loop would never run. */
const refuseUnhookedLoops = (app: NestFastifyApplication): void => {
  const names = unhooked(app, Loop).map(({ health }) => health.name);
  if (names.length > 0) throw new Error(`${names.join(', ')}: in a list; a loop runs only as a provider of its own`);
};

/**
 * Starts services in this process and leaves signals alone: for the embedded installation and for tests.
 * Resolves when HTTP listens and every reader is subscribed.
 * @param onCreated told of the application as soon as it can be closed, while it may still wait for the bus.
 * @throws {ConfigError} for a non-loopback address without API keys.
 */
export const start = async (
  modules: readonly DynamicModule[],
  options: StartOptions,
  onCreated: (created: Pick<Running, 'close'>) => void = () => undefined,
): Promise<Running> => {
  if (options.http !== null) refuseOpenApi(options.http);
  const app = await createApp(modules, options.http?.apiKeys ?? [], options);
  refuseUnhookedLoops(app);
  const controls = running({ app, transport: connectTransport(app, options) }, options);
  onCreated(controls);
  try {
    addHealthRoutes(app, controls.ready);
    const url = await listen(app, options.http);
    await app.startAllMicroservices();
    options.log.info({ url }, 'ready');
    return { url, ...controls };
  } catch (error) {
    await controls.close();
    throw error;
  }
};

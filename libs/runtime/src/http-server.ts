import type { Socket } from 'node:net';
import 'reflect-metadata';
import {
  type ArgumentsHost,
  type DynamicModule,
  type ExceptionFilter,
  StandardSchemaValidationPipe,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiKey } from './api-keys.ts';
import { authenticate, isLoopback } from './authentication.ts';
import { contributed } from './contributions.ts';
import { errorAnswer, schemaProblem } from './error-answer.ts';
import type { HealthReport } from './health.ts';
import { parseJsonBody } from './json-body.ts';
import type { Log } from './log.ts';
import { RunTokens } from './run-tokens.ts';
import { ConfigError } from './settings.ts';
import type { Telemetry } from './telemetry/telemetry.ts';
import { readBeforeRefusal } from './unread-body.ts';

/** Longest request body, bytes. */
const BODY_LIMIT = 1024 * 1024;

export interface HttpOptions {
  /** Address to listen on. Anything but loopback needs keys. */
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** None: everybody on this machine is {@link LOCAL}. */
  readonly apiKeys: readonly ApiKey[];
}

/** @throws {ConfigError} when others could reach an API that asks nobody who they are. */
export const refuseOpenApi = ({ host, apiKeys }: HttpOptions): void => {
  if (apiKeys.length > 0 || isLoopback(host)) return;
  throw new ConfigError(`Refusing to listen on ${host} without API keys: set FIXPOINT_API_KEYS or listen on 127.0.0.1`);
};

class RootModule {}

/** Every error becomes a body of the same shape; faults and bugs are logged with the route, never with the request. */
const errorFilter = (log: Log): ExceptionFilter => ({
  catch: (error: unknown, host: ArgumentsHost) => {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const answer = errorAnswer(error);
    if (answer.status >= 500)
      log.error({ err: error, route: `${request.method} ${request.routeOptions.url}` }, 'a request failed');
    void http.getResponse<FastifyReply>().code(answer.status).headers(answer.headers).send(answer.body);
  },
});

const onlyJson = (app: NestFastifyApplication): void => {
  const fastify = app.getHttpAdapter().getInstance();
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser(
    ['application/json', 'application/cloudevents+json'],
    { parseAs: 'string', bodyLimit: BODY_LIMIT },
    async (_: unknown, text: string) => parseJsonBody(text),
  );
};

/** To Node a connection on which nothing was ever asked is not idle: one that a client opened ahead would hold up a stop for a minute. */
const closeUnused = (app: NestFastifyApplication): void => {
  const fastify = app.getHttpAdapter().getInstance();
  const unused = new Set<Socket>();
  fastify.server.on('connection', (socket: Socket) => {
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  fastify.server.on('request', ({ socket }) => unused.delete(socket));
  fastify.addHook('preClose', async () => {
    for (const socket of unused) socket.destroy();
  });
};

/** Nest on Fastify with the manners of both APIs: JSON only, 1 MiB, schema problems as diagnostics, one error shape. */
export const createApp = async (
  modules: readonly DynamicModule[],
  apiKeys: readonly ApiKey[],
  { log, telemetry }: { readonly log: Log; readonly telemetry?: Telemetry | null },
): Promise<NestFastifyApplication> => {
  const root: DynamicModule = { module: RootModule, imports: [...modules] };
  const adapter = new FastifyAdapter({ bodyLimit: BODY_LIMIT, forceCloseConnections: 'idle' });
  const app = await NestFactory.create<NestFastifyApplication>(root, adapter, {
    bodyParser: false,
    abortOnError: false,
    logger: nestLogger(log),
  });
  onlyJson(app);
  closeUnused(app);
  readBeforeRefusal(app.getHttpAdapter().getInstance());
  telemetry?.http(app.getHttpAdapter().getInstance());
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('onRequest', authenticate(apiKeys, contributed(app, RunTokens)[0] ?? null));
  app.useGlobalPipes(new StandardSchemaValidationPipe({ exceptionFactory: schemaProblem }));
  app.useGlobalFilters(errorFilter(log));
  return app;
};

/** `/health/live` answers as long as the process does; `/health/ready` says whether it should get work. Both without a key. */
export const addHealthRoutes = (app: NestFastifyApplication, report: () => Promise<HealthReport>): void => {
  const fastify = app.getHttpAdapter().getInstance();
  fastify.get('/health/live', async () => ({ live: true }));
  fastify.get('/health/ready', async (_request, reply) => {
    const state = await report();
    return reply.code(state.ready ? 200 : 503).send(state);
  });
};

/** Nest's own messages: what it complains of is logged, what it is proud of only for debugging. */
const nestLogger = (log: Log) => {
  const text = (message: unknown): string => (message instanceof Error ? message.message : String(message));
  return {
    log: (message: unknown) => log.debug({}, text(message)),
    warn: (message: unknown) => log.warn({}, text(message)),
    error: (message: unknown) => log.error({}, text(message)),
    fatal: (message: unknown) => log.fatal({}, text(message)),
  };
};

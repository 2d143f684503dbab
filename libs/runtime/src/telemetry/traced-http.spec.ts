import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { context, trace } from '@opentelemetry/api';
import { type FastifyInstance, fastify } from 'fastify';
import { recordedTelemetry } from './recorded-telemetry.fixture.ts';
import { traceHttp } from './traced-http.ts';

const telemetry = recordedTelemetry();
afterAll(() => telemetry.stop());

let app: FastifyInstance;
beforeEach(() => {
  telemetry.clear();
  app = fastify();
  traceHttp(app, telemetry);
  app.addHook('onRequest', async (request, reply) => {
    if (request.headers.authorization === 'nobody') await reply.code(401).send({});
  });
  app.get('/health/live', async () => ({}));
  app.post('/v1/things/:id', async () => ({ span: trace.getSpanContext(context.active())?.spanId }));
  app.get('/v1/broken', async () => Promise.reject(new Error('no')));
});
afterEach(() => app.close());

describe('a request', () => {
  test('is a span that is open while it is handled, also after its body was read', async () => {
    const { payload } = await app.inject({ method: 'POST', url: '/v1/things/7', payload: { a: 1 } });
    const span = telemetry.named('POST /v1/things/:id');
    expect(JSON.parse(payload)).toEqual({ span: span.id });
    expect(span.attributes).toMatchObject({ 'http.route': '/v1/things/:id', 'http.response.status_code': 200 });
    expect(telemetry.measured).toEqual(['http.server.request.duration POST /v1/things/:id 200 http']);
  });

  test('goes on with the trace of its caller', async () => {
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };
    await app.inject({ method: 'POST', url: '/v1/things/7', headers });
    expect(telemetry.named('POST /v1/things/:id')).toMatchObject({ trace: traceId, parent: 'b7ad6b7169203331' });
  });

  test('with a traceparent that is none begins a trace', async () => {
    await app.inject({ method: 'POST', url: '/v1/things/7', headers: { traceparent: 'nonsense' } });
    expect(telemetry.named('POST /v1/things/:id').parent).toBeNull();
  });

  test('that fails has failed; one that was refused has not', async () => {
    await app.inject({ url: '/v1/broken' });
    await app.inject({ url: '/v1/broken', headers: { authorization: 'nobody' } });
    expect(
      telemetry.seen().map(({ failure, attributes }) => [failure, attributes['http.response.status_code']]),
    ).toEqual([
      ['failed', 500],
      ['', 401],
    ]);
  });

  test('for what there is not has no name of its own', async () => {
    await app.inject({ url: '/v1/guess/1' });
    await app.inject({ url: '/v1/guess/2' });
    expect(new Set(telemetry.measured)).toEqual(new Set(['http.server.request.duration GET unknown 404 http']));
  });

  test('for health leaves no trace', async () => {
    await app.inject({ url: '/health/live' });
    expect([telemetry.seen(), telemetry.measured]).toEqual([[], []]);
  });
});

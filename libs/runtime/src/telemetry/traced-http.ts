import { context, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { spanContextOf } from './lineage-trace.ts';
import type { Instruments } from './spans.ts';

const isPublic = (url: string): boolean => url.startsWith('/health/');

/**
 * A span per request, below whatever the caller says with `traceparent`; handlers run in it. A lineage that a request
 * begins is a trace of its own, and both are linked: it may outlive the request by days.
 */
export const traceHttp = (fastify: FastifyInstance, { spans, metrics }: Instruments): void => {
  const open = new WeakMap<FastifyRequest, Span>();
  fastify.addHook('onRequest', (request, _reply, done) => {
    if (!isPublic(request.url)) {
      const { traceparent } = request.headers;
      const span = spans.open({
        name: request.method,
        kind: SpanKind.SERVER,
        attributes: { 'http.request.method': request.method, 'url.scheme': request.protocol },
        parent: spanContextOf(typeof traceparent === 'string' ? traceparent : undefined),
      });
      open.set(request, span);
    }
    done();
  });
  // Not earlier: what reads the body calls back outside of the context of whoever began to read.
  fastify.addHook('preHandler', (request, _reply, done) => {
    const span = open.get(request);
    if (span === undefined) done();
    else context.with(trace.setSpan(ROOT_CONTEXT, span), done);
  });
  fastify.addHook('onResponse', (request, reply, done) => {
    const span = open.get(request);
    if (span !== undefined) {
      endRequest(span, request, reply);
      metrics.record('http.server.request.duration', reply.elapsedTime / 1_000, measured(request, reply));
    }
    done();
  });
};

/** The route, never the URL: an unknown one would be a value of its own for each that is tried. */
const routeOf = ({ routeOptions }: FastifyRequest): string => routeOptions.url ?? 'unknown';

const endRequest = (span: Span, request: FastifyRequest, reply: FastifyReply): void => {
  const route = routeOf(request);
  span.updateName(`${request.method} ${route}`);
  span.setAttributes({ 'http.route': route, 'http.response.status_code': reply.statusCode });
  if (reply.statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
};

const measured = (request: FastifyRequest, reply: FastifyReply) => ({
  'http.request.method': request.method,
  'http.route': routeOf(request),
  'http.response.status_code': reply.statusCode,
  'url.scheme': request.protocol,
});

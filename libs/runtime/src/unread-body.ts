import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/** Most bytes of a body that nobody wants which are still taken, and the longest wait for them. */
const MOST_BYTES = 64 * 1024 * 1024;
const MOST_MS = 10_000;

/** Reads on and throws away, until the body has ended or has been too long or too slow for that. */
const discarded = (body: Readable): Promise<void> =>
  new Promise((resolve) => {
    let bytes = 0;
    const timer = setTimeout(resolve, MOST_MS);
    const done = (): void => {
      clearTimeout(timer);
      resolve();
    };
    body.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MOST_BYTES) done();
    });
    body.once('end', done).once('error', done).once('close', done);
    body.resume();
  });

const isUnread = ({ raw }: FastifyRequest): boolean => !raw.readableEnded && !raw.destroyed;

/**
 * An answer that is decided before the body has been read (too large, no key) closes the connection, and a client that is
 * still writing sees a broken pipe instead of the answer. So what is on its way is read first.
 */
export const readBeforeRefusal = (fastify: Pick<FastifyInstance, 'addHook'>): void => {
  fastify.addHook('onSend', async (request, reply, payload) => {
    if (reply.statusCode >= 400 && isUnread(request)) await discarded(request.raw);
    return payload;
  });
};

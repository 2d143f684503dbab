import { runTokenParts } from '@fixpoint/contracts/run-token';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ApiKey, includesRole, LOCAL, type Principal, principalOf, type Role } from './api-keys.ts';
import { forbidden, HttpProblem, unauthenticated } from './http-problem.ts';
import type { RunTokens } from './run-tokens.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set before any route runs. */
    principal: Principal;
  }
}

const LOOPBACK = /^(localhost|([a-z0-9-]+\.)+localhost|127(\.\d{1,3}){3}|\[::1\]|::1)$/i;

/** True for names and addresses that only this machine can reach. */
export const isLoopback = (host: string): boolean => LOOPBACK.test(host);

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).hostname : '');

/**
 * Without keys everybody on this machine may do everything, so a web page that a browser on it shows must not: neither
 * from another origin, nor under a name that was made to resolve to this machine.
 */
const checkLocal = ({ headers }: Pick<FastifyRequest, 'headers'>): Principal => {
  if (!isLoopback(hostOf(`http://${headers.host ?? ''}`))) {
    throw forbidden('host_not_allowed', 'without API keys only requests to localhost are answered');
  }
  if (headers.origin !== undefined && !isLoopback(hostOf(headers.origin))) {
    throw forbidden('origin_not_allowed', 'without API keys only pages of localhost may ask');
  }
  return LOCAL;
};

const secretIn = ({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined =>
  /^Bearer (\S+)$/i.exec(headers.authorization ?? '')?.[1];

const checkKey = (keys: readonly ApiKey[], request: Pick<FastifyRequest, 'headers'>): Principal => {
  const secret = secretIn(request);
  const principal = secret === undefined ? null : principalOf(keys, secret);
  if (principal !== null) return principal;
  throw unauthenticated(
    secret === undefined ? 'send the header "authorization: Bearer <key>"' : 'this key is not known',
  );
};

type Asked = Pick<FastifyRequest, 'headers' | 'method' | 'url'>;

/**
 * A run may hand in work and do nothing else: what it handed in is no business of its own any more, so it can not wait for
 * it either.
 */
const checkRun = async (tokens: RunTokens | null, token: string, { method, url }: Asked): Promise<Principal> => {
  if (method !== 'POST' || url !== '/v1/tasks') {
    const detail = 'with the token of a run only POST /v1/tasks can be asked: a run never waits for what it submitted';
    throw new HttpProblem(409, { code: 'not_for_runs', detail, diagnostics: [] });
  }
  const run = (await tokens?.claimsOf(token)) ?? null;
  if (run === null) throw unauthenticated('this token of a run is not good, or not any more');
  return { name: `run:${run.task}#${run.run}`, role: 'writer', run };
};

/**
 * Who asks.
 * @throws {HttpProblem} 401 without a known key or good token, 403 for a foreign page when there are no keys.
 */
const principalOfRequest = async (
  keys: readonly ApiKey[],
  tokens: RunTokens | null,
  request: Asked,
): Promise<Principal> => {
  const secret = secretIn(request);
  if (secret !== undefined && runTokenParts(secret) !== null) return checkRun(tokens, secret, request);
  return keys.length === 0 ? checkLocal(request) : checkKey(keys, request);
};

/**
 * For routes that need more than their method says.
 * @throws {HttpProblem} 403 when the role does not include the needed one.
 */
export const requireRole = (principal: Principal, needed: Role): void => {
  if (!includesRole(principal.role, needed)) {
    throw forbidden('role_insufficient', `${principal.name} is ${principal.role}; this needs ${needed}`);
  }
};

/** What anybody may read: whether the service is well, and the shape of documents, which editors fetch without a key. */
const isPublic = (request: Pick<FastifyRequest, 'method' | 'url'>): boolean =>
  request.url.startsWith('/health/') ||
  (roleFor(request) === 'reader' && /^\/v1\/schemas\/[a-z0-9.-]+$/.test(request.url));

/** Beside the jobs themselves, which are for workers, there is a list of them for readers. */
const isForWorkers = (url: string): boolean => /^\/v1\/worker\/(leases|jobs\/)/.test(url);

const roleFor = ({ method, url }: Pick<FastifyRequest, 'method' | 'url'>): Role => {
  if (isForWorkers(url)) return 'worker';
  return method === 'GET' || method === 'HEAD' ? 'reader' : 'writer';
};

/** A Fastify hook: sets `request.principal` or answers 401 or 403 before anything of the request is read. */
export const authenticate =
  (keys: readonly ApiKey[], tokens: RunTokens | null = null) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    if (isPublic(request)) return;
    try {
      request.principal = await principalOfRequest(keys, tokens, request);
      requireRole(request.principal, roleFor(request));
    } catch (error) {
      if (!(error instanceof HttpProblem)) throw error;
      await reply.code(error.status).headers(error.headers).send(error.body);
    }
  };

/** Parameter decorator of controllers: the {@link Principal} that asks. Its name is the actor of what follows. */
export const Asker = createParamDecorator((_data: unknown, context: ExecutionContext): Principal => {
  const { principal } = context.switchToHttp().getRequest<FastifyRequest>();
  return principal;
});

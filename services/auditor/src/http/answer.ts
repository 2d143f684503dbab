import { hash } from 'node:crypto';
import { parseCursorToken } from '@fixpoint/contracts/rest/cursor-token';
import { badInput, HttpProblem } from '@fixpoint/runtime/http-problem';
import type { FastifyReply } from 'fastify';
import { type Freshness, shownWithin } from '../reading/freshness.ts';
import { CursorInvalid } from '../reading/page.ts';

/** Longest wait of a read for the write that it names. */
const FRESHNESS_MS = 5_000;

/**
 * Waits until the read model shows what the asker has seen already.
 * @throws {HttpProblem} 503 `read_behind` when it takes too long: nothing older is ever answered instead.
 */
export const awaitShown = async (freshness: Freshness, after: string | undefined): Promise<void> => {
  const cursor = after === undefined ? null : parseCursorToken(after);
  if (!cursor || (await shownWithin(freshness, cursor, FRESHNESS_MS))) return;
  const detail = `the read model does not show ${after} yet`;
  throw new HttpProblem(503, { code: 'read_behind', detail, diagnostics: [] }, { 'retry-after': '1' });
};

/** @throws {HttpProblem} 400 for a cursor that no page has handed out. */
export const refusingCursors = async <Result>(read: () => Promise<Result>): Promise<Result> => {
  try {
    return await read();
  } catch (error) {
    if (error instanceof CursorInvalid) throw badInput('cursor_invalid', 'not the "next" of a page of this kind');
    throw error;
  }
};

/** Sends JSON under a validator of its content; an asker who has exactly this already gets 304 and no body. */
export const sendJson = async (reply: FastifyReply, json: string): Promise<void> => {
  const etag = `"${hash('sha256', json, 'base64url')}"`;
  reply.header('etag', etag).header('cache-control', 'private, no-cache');
  const known = reply.request.headers['if-none-match']?.split(/\s*,\s*/).map((tag) => tag.replace(/^W\//, ''));
  if (known?.includes(etag) || known?.includes('*')) return reply.code(304).send();
  return reply.header('content-type', 'application/json; charset=utf-8').send(json);
};

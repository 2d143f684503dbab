import { sha256 } from '@fixpoint/contracts/content-hash';
import { CURSOR_START, type RecordedEvent } from '@fixpoint/contracts/envelope';
import { AttributeInvalid } from '@fixpoint/contracts/ingested-event';
import { eventId } from '@fixpoint/event-store/event-id';
import type { Reader } from '@fixpoint/messaging/bus';
import type { Ingest, IngestMessage, IngestVerdict } from '@fixpoint/messaging/ingest';
import { type ApiKey, includesRole, LOCAL, type Principal, principalOf } from '@fixpoint/runtime/api-keys';
import type { EscalateDeps } from '../writing/escalate.ts';
import { ingestEvent } from '../writing/ingest-event.ts';

export const INGESTED = 'orchestrator__ingest';

export interface IngestDeps {
  readonly escalations: EscalateDeps;
  /** None: whoever may publish to the broker is `local`. */
  readonly apiKeys: readonly ApiKey[];
  readonly deadLetter: Reader['deadLetter'];
}

/**
 * One event that somebody put on `fixpoint.ingest.<project>`, as if it had been posted. What would be refused however often
 * it comes is a dead letter, which says why and can only be discarded: its sender has to mend it.
 */
const takeIngested =
  (deps: IngestDeps) =>
  async (message: IngestMessage): Promise<IngestVerdict> => {
    const refusal = await refusalOf(deps, message);
    if (refusal === 'later') return 'later';
    if (refusal !== null) await deps.deadLetter({ event: asEvent(message), nodeReady: null }, 1, refusal);
    return 'done';
  };

/** Why it is given up; null when it was taken. */
const refusalOf = async (deps: IngestDeps, message: IngestMessage): Promise<string | 'later' | null> => {
  const who = senderOf(deps.apiKeys, message);
  if (who === null) return 'unauthenticated: the header authorization holds no known key';
  if (!includesRole(who.role, 'writer')) return `role_insufficient: ${who.name} is ${who.role}; this needs writer`;
  try {
    return await handedOver(deps, message, who.name);
  } catch (error) {
    if (error instanceof AttributeInvalid || error instanceof SyntaxError) return `event_invalid: ${error.message}`;
    throw error;
  }
};

const senderOf = (keys: readonly ApiKey[], { headers }: IngestMessage): Principal | null => {
  if (keys.length === 0) return LOCAL;
  const secret = /^Bearer (\S+)$/i.exec(headers.authorization ?? '')?.[1];
  return secret === undefined ? null : principalOf(keys, secret);
};

const handedOver = async (
  { escalations }: IngestDeps,
  { project, headers, body }: IngestMessage,
  actor: string,
): Promise<string | 'later' | null> => {
  const answer = await ingestEvent(escalations, { headers, body: JSON.parse(body) }, { actor, project });
  if (answer.outcome === 'accepted') return null;
  if (answer.outcome === 'no_event')
    return `event_invalid: ${answer.issues.map(({ path, message }) => `/${path.join('/')}: ${message}`).join('; ')}`;
  return answer.http_status === 429 || answer.http_status >= 500 ? 'later' : `${answer.code}: ${answer.detail}`;
};

/** As dead letters show it: of no lineage, and nowhere in the store. The same message is the same one, however often it comes. */
const asEvent = ({ project, sequence, sentAt, body }: IngestMessage): RecordedEvent => {
  const stream = `ingest-${project}`;
  const causeId = sha256(`${sequence} ${body}`);
  const id = eventId({ causeId, causeTime: sentAt, handler: INGESTED, stream, index: 0 });
  const metadata = { causation_id: id, correlation_id: stream, producer: INGESTED, actor: 'system' };
  return {
    ...{
      id,
      type: 'ingested',
      stream,
      root: stream,
      version: 1,
      schema_version: 1,
      hash: sha256(body),
      data: {},
      metadata,
    },
    ...{ occurred_at: sentAt, cursor: CURSOR_START },
  };
};

/** A round of the loop: what waits on the broker is taken. */
export const ingestRound =
  (ingest: Ingest, deps: IngestDeps) =>
  (signal: AbortSignal): Promise<void> =>
    ingest.take(takeIngested(deps), signal);

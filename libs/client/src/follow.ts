import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { eventPageSchema, recordedEventSchema } from '@fixpoint/contracts/rest/audit';
import { cursorToken } from '@fixpoint/contracts/rest/cursor-token';
import { ApiError, UnexpectedAnswer } from './api-error.ts';
import { ask, type Connection, send } from './http.ts';
import { messagesOf } from './server-sent-events.ts';

export interface FollowOptions {
  /** Only events after this cursor; default: from the first one. */
  readonly since?: string | undefined;
  /** Ends the iteration without an error. */
  readonly signal?: AbortSignal | undefined;
}

/** The server says something every 15 s; silence for longer is a dead connection. */
const SILENCE_MS = 45_000;
const POLL_MS = 500;
const PAGE = 500;
/** Streams that ended without a single event before polling is tried: something between does not let streams through. */
const DEAF_STREAMS = 3;

interface Place {
  since: string | undefined;
  /** Attempts in a row that brought nothing. */
  failures: number;
  readonly signal: AbortSignal;
}

/**
 * Events of a lineage in their order, each once: those that are there, then those that come. It has no end of its own:
 * leave the loop, or abort the signal. A broken connection is made again from where it was; where streams do not get
 * through, it asks for pages instead.
 * @throws {ApiError} when the API refuses (400, 401, 403, …), never because it is away. @throws {UnexpectedAnswer}
 */
export async function* follow(
  connection: Connection,
  lineage: string,
  options: FollowOptions = {},
): AsyncGenerator<RecordedEvent> {
  const signal = options.signal ?? new AbortController().signal;
  const place: Place = { since: options.since, failures: 0, signal };
  while (!signal.aborted) {
    const round = place.failures < DEAF_STREAMS ? streamed : polled;
    yield* onward(place, round(connection, lineage, place));
    if (place.failures > 0 || round === polled) await pause(place);
  }
}

/** One round: what it brings moves the place, what breaks it is a failure of the world and tried again. */
async function* onward(place: Place, events: AsyncIterable<RecordedEvent>): AsyncGenerator<RecordedEvent> {
  place.failures += 1;
  try {
    for await (const event of events) {
      place.since = cursorToken(event.cursor);
      place.failures = 0;
      yield event;
    }
  } catch (error) {
    if (error instanceof UnexpectedAnswer || (error instanceof ApiError && isFinal(error))) throw error;
  }
}

const isFinal = ({ status }: ApiError): boolean => status < 500 && status !== 429 && status !== 408;

async function* streamed(connection: Connection, lineage: string, place: Place): AsyncGenerator<RecordedEvent> {
  const silence = new AbortController();
  const hush = setTimeout(() => silence.abort(), SILENCE_MS);
  try {
    const answer = await send(connection, {
      method: 'GET',
      path: 'v1/audit/events/stream',
      query: { lineage, since: place.since },
      headers: { accept: 'text/event-stream' },
      signal: AbortSignal.any([place.signal, silence.signal]),
    });
    if (answer.body === null || !answer.headers.get('content-type')?.startsWith('text/event-stream')) return;
    for await (const { data } of messagesOf(answer.body, () => hush.refresh())) {
      yield eventOf(data);
    }
  } finally {
    clearTimeout(hush);
  }
}

const eventOf = (data: string): RecordedEvent => {
  const event = recordedEventSchema.safeParse(JSON.parse(data));
  if (!event.success) throw new UnexpectedAnswer(`the stream sent something that is no event: ${data.slice(0, 200)}`);
  return event.data;
};

async function* polled(connection: Connection, lineage: string, place: Place): AsyncGenerator<RecordedEvent> {
  const query = { lineage, since: place.since, limit: PAGE };
  const page = await ask(connection, { method: 'GET', path: 'v1/audit/events', query }, eventPageSchema);
  yield* page.items;
}

/** Half a second after a page, longer after failures, at most five seconds. */
const pause = ({ failures, signal }: Place): Promise<void> =>
  new Promise((resolve) => {
    const wake = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', wake);
      resolve();
    };
    const timer = setTimeout(wake, Math.min(POLL_MS * 2 ** Math.max(0, failures - 1), 5_000));
    signal.addEventListener('abort', wake);
    if (signal.aborted) wake();
  });

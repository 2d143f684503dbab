import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '@fixpoint/contracts/clock';
import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import type { Offer, Publication, Reader, Verdict } from './bus.ts';

/** The machine's clock. */
export const realClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  sleep: async (ms, signal) => {
    await sleep(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
  },
};

/** A clock that stands still until it is told to go on. */
export const manualClock = (): Clock & { advance(ms: number): Promise<void> } => {
  let nowMs = 0;
  let sleepers: { readonly at: number; readonly wake: () => void }[] = [];
  return {
    now: () => new Date(nowMs),
    monotonicMs: () => nowMs,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        signal?.addEventListener('abort', () => resolve(), { once: true });
        sleepers.push({ at: nowMs + ms, wake: resolve });
      }),
    advance: async (ms) => {
      nowMs += ms;
      const due = sleepers.filter((sleeper) => sleeper.at <= nowMs).sort((a, b) => a.at - b.at);
      sleepers = sleepers.filter((sleeper) => sleeper.at > nowMs);
      for (const sleeper of due) sleeper.wake();
      await turn();
    },
  };
};

/** Lets everything that needs no time happen. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

export const anEvent = (type: string, id: string, data: unknown = {}): RecordedEvent => ({
  id,
  type,
  schema_version: 1,
  data,
  metadata: { causation_id: 'cause', correlation_id: 'root', producer: 'spec', actor: 'system' },
  occurred_at: '2026-01-01T00:00:00.000Z',
  root: 'root',
  stream: `stream-${id}`,
  version: 1,
  cursor: { epoch: 0, xid: '1', position: '1' },
  hash: '00',
});

export const publication = (type: string, id: string, rest: Partial<Publication> = {}): Publication => ({
  offer: { event: anEvent(type, id), nodeReady: null },
  workClass: 'normal',
  reoffer: '',
  ...rest,
});

export const idsOf = (offers: readonly Offer[]): string[] => offers.map((offer) => offer.event.id);

/** Things that happen, and a way to wait for them without sleeping. */
export class Journal<T> {
  readonly entries: T[] = [];
  #wakers: (() => void)[] = [];

  add(entry: T): void {
    this.entries.push(entry);
    const wakers = this.#wakers;
    this.#wakers = [];
    for (const waker of wakers) waker();
  }

  /** @throws after 40 s, with what has happened until then. */
  async until(isThere: (entries: readonly T[]) => boolean): Promise<readonly T[]> {
    const deadline = AbortSignal.timeout(40_000);
    while (!isThere(this.entries)) {
      if (deadline.aborted) throw new Error(`Did not happen; there is: ${JSON.stringify(this.entries)}`);
      await new Promise<void>((resolve) => {
        this.#wakers.push(resolve);
        deadline.addEventListener('abort', () => resolve(), { once: true });
      });
    }
    return this.entries;
  }

  count(entry: T): number {
    return this.entries.filter((other) => other === entry).length;
  }
}

export const done: Verdict = { verdict: 'done' };

/** A reader of one type that writes down what it is offered, and dead letters. */
export const aReader = (
  rest: Partial<Reader> & { readonly name: string },
): Reader & { readonly seen: Journal<string>; readonly dead: Journal<string> } => {
  const seen = new Journal<string>();
  const dead = new Journal<string>();
  return {
    types: ['thing_done'],
    mode: { kind: 'batch', max: 50 },
    maxFailures: 3,
    handle: async (offers) => {
      for (const id of idsOf(offers)) seen.add(id);
      return offers.map(() => done);
    },
    deadLetter: async (offer, deliveries, error) => dead.add(`${offer.event.id} after ${deliveries}: ${error}`),
    ...rest,
    seen,
    dead,
  };
};

/** A reader whose verdict is decided per offer; offers are written down before. */
export const answering = (
  rest: Partial<Reader> & { readonly name: string },
  answer: (offer: Offer, delivery: number) => Verdict | Promise<Verdict>,
): ReturnType<typeof aReader> => {
  const reader = aReader(rest);
  return {
    ...reader,
    handle: (offers) =>
      Promise.all(
        offers.map((offer) => {
          reader.seen.add(offer.event.id);
          return answer(offer, reader.seen.count(offer.event.id));
        }),
      ),
  };
};

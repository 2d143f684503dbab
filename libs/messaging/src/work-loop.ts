import type { Clock } from '@fixpoint/contracts/clock';
import type { Offer, Reader, Verdict } from './bus.ts';
import { pauseDelay, type Settlement, settle } from './settlement.ts';
import type { HeldMessage, WorkSource } from './work-buffer.ts';

/** Told what went wrong outside of any message's fault; for logs. Never throws. */
export type Report = (problem: string, cause: unknown) => void;

export interface WorkLoopOptions {
  readonly reader: Reader;
  readonly source: WorkSource;
  readonly clock: Clock;
  readonly report: Report;
  failureDelayMs(failures: number): number;
  /** Called when room for more work may have come up. */
  onRoom(): void;
}

/** A process is killed 5 s after its drain: time to kill what runs, store that it was cut off, and close all else. */
const LAST_WORD_MS = 3_000;

/**
 * Runs one reader: takes messages from its source, asks the handler, says the verdicts to the broker.
 * What a verdict means is the same for every broker, because it is decided here.
 */
export class WorkLoop {
  readonly #options: WorkLoopOptions;
  readonly #stopping = new AbortController();
  /** Handed to handlers: aborted when a drain has run out of time. */
  readonly #cutOff = new AbortController();
  readonly #inHand = new Set<Promise<void>>();
  readonly #finished: Promise<void>;
  #running = 0;
  #slotFree: (() => void) | null = null;
  #throws = 0;
  #pause: Promise<void> = Promise.resolve();
  #pausedUntilMs = 0;

  constructor(options: WorkLoopOptions) {
    this.#options = options;
    this.#finished = options.reader.mode.kind === 'batch' ? this.#batches(options.reader.mode.max) : this.#pool();
  }

  /** Offers that could be started at once; 0 when stopping or pausing. */
  get room(): number {
    if (this.#stopping.signal.aborted || this.#options.clock.monotonicMs() < this.#pausedUntilMs) return 0;
    const { mode } = this.#options.reader;
    return mode.kind === 'batch' ? mode.max : mode.concurrency - this.#running;
  }

  /**
   * Takes no new work and waits for what is in hand. When the signal aborts, handlers are told and have a moment to say
   * how their work ended; none when it was aborted from the start.
   */
  async drain(signal: AbortSignal): Promise<void> {
    this.#stopping.abort();
    this.#options.source.wake();
    this.#slotFree?.();
    const lastWordMs = signal.aborted ? 0 : LAST_WORD_MS;
    const finished = this.#finished.then(() => Promise.all(this.#inHand));
    await Promise.race([finished, aborted(signal)]);
    this.#cutOff.abort();
    if (lastWordMs > 0) await Promise.race([finished, aborted(AbortSignal.timeout(lastWordMs))]);
  }

  async #batches(max: number): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const messages = this.#options.source.take(max);
      if (messages.length === 0) await this.#options.source.arrival();
      else await this.#handleTogether(messages, max);
      await this.#pause;
    }
  }

  async #handleTogether(messages: readonly HeldMessage[], max: number): Promise<void> {
    this.#options.onRoom();
    const offers = messages.flatMap((held) => held.offers);
    const verdicts: Verdict[] = [];
    for (let from = 0; from < offers.length; from += max) {
      verdicts.push(...(await this.#ask(offers.slice(from, from + max))));
    }
    let from = 0;
    const settled: Promise<void>[] = [];
    for (const held of messages) {
      settled.push(this.#settle(held, verdicts.slice(from, from + held.offers.length)));
      from += held.offers.length;
    }
    await Promise.all(settled);
  }

  async #pool(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      await this.#slot();
      const [held] = this.#stopping.signal.aborted ? [] : this.#options.source.take(1);
      if (held !== undefined) await this.#startAll(held);
      else if (!this.#stopping.signal.aborted) await this.#options.source.arrival();
      await this.#pause;
    }
  }

  /** Starts a message's offers as slots allow; the message is settled when the last of them has its verdict. */
  async #startAll(held: HeldMessage): Promise<void> {
    const verdicts: Promise<Verdict>[] = [];
    for (const offer of held.offers) {
      await this.#pause;
      await this.#slot();
      verdicts.push(this.#stopping.signal.aborted ? Promise.resolve(notStarted) : this.#run(offer));
    }
    const settled = Promise.all(verdicts).then((all) => this.#settle(held, all));
    this.#inHand.add(settled);
    void settled.finally(() => this.#inHand.delete(settled));
  }

  async #run(offer: Offer): Promise<Verdict> {
    this.#running += 1;
    const [verdict] = await this.#ask([offer]);
    this.#running -= 1;
    this.#slotFree?.();
    this.#options.onRoom();
    return verdict ?? notStarted;
  }

  /** Resolves when a slot is free or the loop stops. */
  async #slot(): Promise<void> {
    const { mode } = this.#options.reader;
    while (mode.kind === 'pool' && this.#running >= mode.concurrency && !this.#stopping.signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#slotFree = resolve;
      });
    }
  }

  /**
   * A throw says that the world failed, not the message: everything comes again, and the reader pauses. A bug does not
   * mend by waiting and must not hold up the others: offers are then asked about one by one, and what throws alone failed.
   */
  async #ask(offers: readonly Offer[]): Promise<readonly Verdict[]> {
    const { reader, clock, report } = this.#options;
    try {
      const verdicts = await reader.handle(offers, this.#cutOff.signal);
      if (verdicts.length !== offers.length) throw new Error(`${verdicts.length} verdicts for ${offers.length} offers`);
      this.#throws = 0;
      return verdicts;
    } catch (error) {
      report(`${reader.name} could not handle ${offers.length} offers`, error);
      if (isBug(error)) return this.#askAlone(offers, error);
      const delayMs = this.#pauseAfterThrow(clock);
      return offers.map(() => ({ verdict: 'later', delayMs, reason: 'handler_threw' }));
    }
  }

  async #askAlone(offers: readonly Offer[], error: unknown): Promise<readonly Verdict[]> {
    if (offers.length === 1) return [{ verdict: 'failed', error: String(error) }];
    const verdicts: Verdict[] = [];
    for (const offer of offers) verdicts.push(...(await this.#ask([offer])));
    return verdicts;
  }

  /** What was in hand together fails together: it counts as one throw. */
  #pauseAfterThrow(clock: Clock): number {
    const now = clock.monotonicMs();
    if (now < this.#pausedUntilMs) return this.#pausedUntilMs - now;
    this.#throws += 1;
    const delayMs = pauseDelay(this.#throws);
    this.#pausedUntilMs = now + delayMs;
    this.#pause = clock.sleep(delayMs, this.#stopping.signal).then(() => this.#options.onRoom());
    return delayMs;
  }

  async #settle(held: HeldMessage, verdicts: readonly Verdict[]): Promise<void> {
    const { maxFailures } = this.#options.reader;
    const { offers, failures } = held;
    const failureDelayMs = this.#options.failureDelayMs;
    const settlement = settle({ offers, failures, verdicts, maxFailures, failureDelayMs });
    if (settlement.nakMs !== null) {
      held.nak(settlement.nakMs);
      return;
    }
    try {
      await this.#apply(held, settlement);
      held.ack();
    } catch (error) {
      this.#options.report(`${this.#options.reader.name} could not put back what it did not finish`, error);
      held.nak(failureDelayMs(1));
    }
  }

  async #apply(held: HeldMessage, { retries, dead }: Settlement): Promise<void> {
    await Promise.all(retries.map((retry) => held.retry(retry)));
    for (const { offer, deliveries, error } of dead) {
      try {
        await this.#options.reader.deadLetter(offer, deliveries, error);
      } catch (problem) {
        this.#options.report(`${this.#options.reader.name} could not record a dead letter`, problem);
        const failures = deliveries - 1;
        await held.retry({ offer, failures, delayMs: this.#options.failureDelayMs(deliveries) });
      }
    }
  }
}

/** What a program throws that is wrong, and the world never does; by name, since errors of other realms are no instances. */
const BUGS = new Set(['TypeError', 'RangeError', 'ReferenceError', 'SyntaxError', 'AssertionError']);

const isBug = (error: unknown): boolean => error instanceof Error && BUGS.has(error.name);

const notStarted: Verdict = { verdict: 'later', delayMs: 100, reason: 'shutting_down' };

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

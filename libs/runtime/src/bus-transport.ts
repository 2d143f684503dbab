import type { Clock } from '@fixpoint/contracts/clock';
import type { Bus, Subscription } from '@fixpoint/messaging/bus';
import { type CustomTransportStrategy, Server } from '@nestjs/microservices';
import { retry } from './backoff.ts';
import { HealthCheck } from './health.ts';
import type { Log } from './log.ts';
import type { BusContribution } from './readers.ts';

export interface BusTransportOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Longest wait for work in hand when the process stops, ms. */
  readonly drainMs: number;
}

/**
 * The readers of a process as a Nest transport, over whichever bus it was given: started together once everything is up
 * (again and again while the bus is down), part of readiness, drained on the way out.
 */
export class BusTransport extends Server implements CustomTransportStrategy {
  readonly health: readonly HealthCheck[];
  readonly #bus: Bus;
  readonly #contributions: readonly BusContribution[];
  readonly #options: BusTransportOptions;
  readonly #subscriptions = new Map<BusContribution, Subscription>();
  readonly #closing = new AbortController();
  #drained: Promise<void> | null = null;

  constructor(bus: Bus, contributions: readonly BusContribution[], options: BusTransportOptions) {
    super();
    this.#bus = bus;
    this.#contributions = contributions;
    this.#options = options;
    this.health = [
      new HealthCheck('bus', () => {
        if (!bus.healthy()) throw new Error('not connected');
      }),
      ...contributions.map((each) => this.#healthOf(each)),
    ];
  }

  /** Calls back when every reader is subscribed, or with an error when closed before. */
  listen(callback: (error?: unknown) => void): void {
    Promise.all(this.#contributions.map((each) => this.#subscribe(each))).then(() => callback(), callback);
  }

  /** Stops taking new work at once; resolves when the work in hand is done or `drainMs` has passed. */
  close(): Promise<void> {
    this.#closing.abort(new Error('the process is stopping'));
    this.#drained ??= this.#drain();
    return this.#drained;
  }

  on(): never {
    throw new Error('the bus transport has no events; ask its health');
  }

  unwrap<T>(): T {
    // Nest's contract: the caller names the type of the underlying client.
    return this.#bus as T;
  }

  #healthOf(contribution: BusContribution): HealthCheck {
    return new HealthCheck(`reader ${contribution.name}`, () => {
      const subscription = this.#subscriptions.get(contribution);
      if (subscription === undefined) throw new Error('not subscribed yet');
      if (!subscription.healthy()) throw new Error('deaf');
    });
  }

  async #subscribe(contribution: BusContribution): Promise<void> {
    const { clock, log } = this.#options;
    const subscription = await retry(() => contribution.start(this.#bus), {
      clock,
      signal: this.#closing.signal,
      onFailure: (error, waitMs) =>
        log.warn(
          { err: error, reader: contribution.name, wait_ms: waitMs },
          'a reader could not subscribe; trying again',
        ),
    });
    this.#subscriptions.set(contribution, subscription);
    if (this.#closing.signal.aborted) await subscription.drain(AbortSignal.timeout(this.#options.drainMs));
  }

  async #drain(): Promise<void> {
    const signal = AbortSignal.timeout(this.#options.drainMs);
    const drains = [...this.#subscriptions].map(async ([contribution, subscription]) => {
      try {
        await subscription.drain(signal);
      } catch (error) {
        this.#options.log.warn(
          { err: error, reader: contribution.name },
          'a reader did not drain; its work is offered again',
        );
      }
    });
    await Promise.all(drains);
  }
}

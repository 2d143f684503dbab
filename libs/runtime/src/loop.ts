import type { Clock } from '@fixpoint/contracts/clock';
import type { BeforeApplicationShutdown, OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { backoffMs } from './backoff.ts';
import { HealthCheck } from './health.ts';
import type { Log } from './log.ts';

/** One round of background work. It waits for work itself and ends early when the signal aborts. */
export type LoopStep = (signal: AbortSignal) => Promise<void>;

export interface LoopOptions {
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * The only kind of background loop: rounds one after the other from the start of the application to its end. A failed
 * round is logged and tried again after 200 ms, doubling to 30 s; readiness is false until a round succeeds again.
 */
export class Loop implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown {
  readonly health: HealthCheck;
  readonly #name: string;
  readonly #step: LoopStep;
  readonly #options: LoopOptions;
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #failure: string | null = null;

  constructor(name: string, step: LoopStep, options: LoopOptions) {
    this.#name = name;
    this.#step = step;
    this.#options = options;
    this.health = new HealthCheck(`loop ${name}`, () => {
      if (this.#failure !== null) throw new Error(this.#failure);
    });
  }

  onApplicationBootstrap(): void {
    this.#running = this.#run();
  }

  /** Returns at once: Nest asks module after module. */
  onModuleDestroy(): void {
    this.#stop.abort();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    for (let failures = 0; !signal.aborted; ) {
      failures = (await this.#round(signal)) ? 0 : failures + 1;
      if (failures > 0) await this.#options.clock.sleep(backoffMs(failures), signal);
    }
  }

  async #round(signal: AbortSignal): Promise<boolean> {
    try {
      await this.#step(signal);
      this.#failure = null;
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      this.#failure = error instanceof Error ? error.message : String(error);
      this.#options.log.warn({ err: error, loop: this.#name }, 'a round of a background loop failed');
      return false;
    }
  }
}

/** A provider value: `useFactory: (store, clock, log) => loop('sweep', sweep(store), { clock, log })`. */
export const loop = (name: string, step: LoopStep, options: LoopOptions): Loop => new Loop(name, step, options);

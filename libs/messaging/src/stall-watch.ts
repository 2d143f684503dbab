import type { JetStreamManager } from '@nats-io/jetstream';
import type { Pull } from './pull.ts';

export interface StallWatchOptions {
  readonly pull: Pull;
  readonly manager: JetStreamManager;
  readonly stream: string;
  readonly durable: string;
  readonly lookEveryMs: number;
  /** The consumer delivers nothing although messages wait and a request is open. It has been deleted. */
  onStalled(): void;
}

/**
 * Looks whether a consumer still delivers. Server 2.9 can leave one that answers, heartbeats and never delivers, for
 * example when its stream was created again while its deletion was still under way. Two looks in a row have to agree.
 * @returns a function that ends the watch.
 */
export const watchForStall = (options: StallWatchOptions): (() => void) => {
  let receivedBefore = -1;
  let suspicions = 0;
  const look = async (): Promise<void> => {
    const { pull, manager, stream, durable } = options;
    const isQuiet = pull.isOpen && pull.received === receivedBefore;
    receivedBefore = pull.received;
    // Asking is only worth its cost when nothing came.
    const waiting = isQuiet ? (await manager.consumers.info(stream, durable)).num_pending : 0;
    suspicions = waiting > 0 && pull.isOpen && pull.received === receivedBefore ? suspicions + 1 : 0;
    if (suspicions < 2) return;
    suspicions = 0;
    await manager.consumers.delete(stream, durable);
    options.onStalled();
  };
  // A look that fails is made up for by the next one; whatever is wrong with the broker shows elsewhere.
  const timer = setInterval(() => void look().catch(() => undefined), options.lookEveryMs);
  timer.unref();
  return () => clearInterval(timer);
};

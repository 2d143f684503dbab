import type { Clock } from '@fixpoint/contracts/clock';
import type { Bus, Offer, Reader, Subscription, Verdict } from '@fixpoint/messaging/bus';

/** One process of this world. Once it is killed, nothing that it does or hears has any effect. */
export interface SimulatedProcess {
  readonly name: string;
  /** A port as this process sees it; after the kill nobody ever answers. */
  mortal<Port extends object>(port: Port): Port;
  /** The clock for commands: who sleeps by it is not busy. */
  readonly commandClock: Clock;
  subscribe(bus: Bus, reader: Reader): Promise<void>;
  /** Background work, to be done a round at a time. */
  readonly rounds: ((signal: AbortSignal) => Promise<void>)[];
  /** Handlers that are at work and not asleep; 0 for a dead process. */
  busy(): number;
  /** Handlers that sleep by the clock; 0 for a dead process. */
  asleep(): number;
  isAlive(): boolean;
  /** Never aborted: who is killed is told nothing. Each has its own, as what listens to it stays in memory with it. */
  readonly undisturbed: AbortSignal;
  /** Resolves when it is killed. */
  readonly death: Promise<void>;
  kill(): void;
}

const never = <Result>(): Promise<Result> => new Promise(() => undefined);

/** A signal that says: stop now, wait for nothing. */
const atOnce = (): AbortSignal => AbortSignal.abort();

const mortalPort = <Port extends object>(port: Port, isAlive: () => boolean): Port => {
  const answer = async (result: unknown): Promise<unknown> => {
    const value = await result;
    return isAlive() ? value : never();
  };
  return new Proxy(port, {
    get: (target, key) => {
      const member: unknown = Reflect.get(target, key);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]): unknown => {
        if (!isAlive()) return never();
        const result: unknown = Reflect.apply(member, target, args);
        return result instanceof Promise ? answer(result) : result;
      };
    },
  });
};

/** Told of every offer that was answered, and not put off. */
export type OnAnswered = (reader: string, offer: Offer) => void;

export const simulatedProcess = (name: string, clock: Clock, onAnswered: OnAnswered): SimulatedProcess => {
  const subscriptions: Subscription[] = [];
  const undisturbed = new AbortController().signal;
  let alive = true;
  const death = Promise.withResolvers<void>();
  let inHand = 0;
  let asleep = 0;

  const answered = (reader: Reader, offers: readonly Offer[], verdicts: readonly Verdict[]): void => {
    for (const [index, offer] of offers.entries()) {
      if (verdicts[index]?.verdict !== 'later') onAnswered(reader.name, offer);
    }
  };
  const watched = (reader: Reader): Reader => ({
    ...reader,
    handle: async (offers) => {
      if (!alive) return never();
      inHand += 1;
      try {
        const verdicts = await reader.handle(offers, undisturbed);
        answered(reader, offers, verdicts);
        return verdicts;
      } finally {
        inHand -= 1;
      }
    },
  });

  return {
    name,
    mortal: (port) => mortalPort(port, () => alive),
    commandClock: {
      now: () => clock.now(),
      monotonicMs: () => clock.monotonicMs(),
      sleep: async (ms, signal) => {
        asleep += 1;
        await clock.sleep(ms, signal);
        asleep -= 1;
      },
    },
    subscribe: async (bus, reader) => void subscriptions.push(await bus.subscribe(watched(reader))),
    rounds: [],
    busy: () => (alive ? inHand - asleep : 0),
    asleep: () => (alive ? asleep : 0),
    isAlive: () => alive,
    undisturbed,
    death: death.promise,
    kill: () => {
      alive = false;
      death.resolve();
      for (const subscription of subscriptions) void subscription.drain(atOnce());
    },
  };
};

import { AsyncLocalStorage } from 'node:async_hooks';
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

interface Hand {
  asleep: number;
}

const whose = new AsyncLocalStorage<Hand>();

/** Handlers at work and at rest. What a handler asked may sleep on after the handler has come back: that counts for nobody. */
const handsOf = (clock: Clock) => {
  const hands = new Set<Hand>();
  const awake = (): number => [...hands].filter(({ asleep }) => asleep === 0).length;
  return {
    awake,
    asleep: () => hands.size - awake(),
    handle: async <Result>(work: () => Promise<Result>): Promise<Result> => {
      const hand: Hand = { asleep: 0 };
      hands.add(hand);
      try {
        return await whose.run(hand, work);
      } finally {
        hands.delete(hand);
      }
    },
    sleep: async (ms: number, signal?: AbortSignal): Promise<void> => {
      const hand = whose.getStore() ?? { asleep: 0 };
      hand.asleep += 1;
      await clock.sleep(ms, signal);
      hand.asleep -= 1;
    },
  };
};

/** Told of every offer that was answered, and not put off. */
export type OnAnswered = (reader: string, offer: Offer) => void;

export const simulatedProcess = (name: string, clock: Clock, onAnswered: OnAnswered): SimulatedProcess => {
  const subscriptions: Subscription[] = [];
  const undisturbed = new AbortController().signal;
  let alive = true;
  const death = Promise.withResolvers<void>();
  const hands = handsOf(clock);

  const answered = (reader: Reader, offers: readonly Offer[], verdicts: readonly Verdict[]): void => {
    for (const [index, offer] of offers.entries()) {
      if (verdicts[index]?.verdict !== 'later') onAnswered(reader.name, offer);
    }
  };
  const watched = (reader: Reader): Reader => ({
    ...reader,
    handle: async (offers) => {
      if (!alive) return never();
      const verdicts = await hands.handle(() => reader.handle(offers, undisturbed));
      answered(reader, offers, verdicts);
      return verdicts;
    },
  });

  return {
    name,
    mortal: (port) => mortalPort(port, () => alive),
    commandClock: { now: () => clock.now(), monotonicMs: () => clock.monotonicMs(), sleep: hands.sleep },
    subscribe: async (bus, reader) => void subscriptions.push(await bus.subscribe(watched(reader))),
    rounds: [],
    busy: () => (alive ? hands.awake() : 0),
    asleep: () => (alive ? hands.asleep() : 0),
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

/**
 * Holds back what comes from outside of the simulated world (another thread of the machine) until the world stands still,
 * and lets it in in the order in which it was asked for: else the machine would decide what happens first.
 */
export interface Barrier {
  through<Value>(outside: Promise<Value>): Promise<Value>;
  /** Lets the first one in; false when nothing waits. */
  admitNext(): Promise<boolean>;
}

export const barrier = (): Barrier => {
  const waiting: (() => Promise<void>)[] = [];
  return {
    through: (outside) =>
      new Promise((resolve, reject) => {
        waiting.push(() => outside.then(resolve, reject));
      }),
    admitNext: async () => {
      const next = waiting.shift();
      if (next === undefined) return false;
      await next();
      return true;
    },
  };
};

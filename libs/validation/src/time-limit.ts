import { createContext, Script } from 'node:vm';

/** Synchronous work took longer than it may and was stopped. */
export class TimeLimitPassed extends Error {
  override readonly name = 'TimeLimitPassed';
}

const room: { work: (() => unknown) | null } = { work: null };
const context = createContext(room);
const script = new Script('work()');

/** A document may allow its checks hours; leases and messages of everybody else last 10 s, and nothing renews them meanwhile. */
const MOST_MS = 5_000;

/**
 * Runs synchronous work and stops it after `limitMs`, at most 5 s, in the middle of whatever it does: an expression or a schema of a
 * document can hold a pattern that never ends. Costs about 0.6 ms (a watchdog thread). May not be nested.
 * @throws {TimeLimitPassed}
 */
export const withinLimit = <Result>(limitMs: number, work: () => Result): Result => {
  const allowedMs = Math.min(MOST_MS, Math.max(1, Math.ceil(limitMs)));
  let result: Result | undefined;
  room.work = () => {
    result = work();
  };
  try {
    script.runInContext(context, { timeout: allowedMs });
  } catch (error) {
    if (isTimeout(error)) throw new TimeLimitPassed(`not finished after ${allowedMs} ms`);
    throw error;
  } finally {
    room.work = null;
  }
  return result as Result;
};

// Not `instanceof`: the error is of the realm that is stopped.
const isTimeout = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';

import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Asks again and again until the answer is neither null nor false.
 * @param what a clause for the error: "the executor is restarted".
 * @throws when that does not happen within `timeoutMs`.
 */
export const eventually = async <Answer>(
  what: string,
  ask: () => Answer | null | false | Promise<Answer | null | false>,
  timeoutMs = 30_000,
): Promise<Answer> => {
  const until = performance.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== null && answer !== false) return answer;
    if (performance.now() > until) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    await sleep(50);
  }
};

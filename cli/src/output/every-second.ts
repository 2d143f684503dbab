const SAY_EVERY_MS = 1_000;

/** Passes on what is said at most once a second; the rest is dropped. For progress that comes faster than people read. */
export const everySecond = <Said>(say: (said: Said) => void): ((said: Said) => void) => {
  let saidAt = performance.now();
  return (said) => {
    if (performance.now() - saidAt < SAY_EVERY_MS) return;
    saidAt = performance.now();
    say(said);
  };
};

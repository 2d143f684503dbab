import type { Log } from '../log.ts';

/** One warning a minute says enough of a collector that is away. */
const QUIET_MS = 60_000;
const LENGTH = 500;

/** What goes wrong with the collector, told rarely: it never stops work, and must not fill the log either. */
export class ExportWarnings {
  readonly #nowMs: () => number;
  #log: Pick<Log, 'warn'> | null = null;
  #waiting: string | null = null;
  #toldMs = Number.NEGATIVE_INFINITY;
  #untold = 0;

  /** @param nowMs of a monotonic clock. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** What was said before there was a log is told now. */
  reportTo(log: Pick<Log, 'warn'>): void {
    this.#log = log;
    const waiting = this.#waiting;
    this.#waiting = null;
    if (waiting !== null) this.say(waiting);
  }

  say(problem: string): void {
    if (this.#log === null) {
      this.#waiting ??= problem;
      return;
    }
    if (this.#nowMs() - this.#toldMs < QUIET_MS) {
      this.#untold += 1;
      return;
    }
    this.#log.warn({ problem: problem.slice(0, LENGTH), more: this.#untold }, 'telemetry is not getting through');
    this.#toldMs = this.#nowMs();
    this.#untold = 0;
  }
}

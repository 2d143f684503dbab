/** One thing that must be well before the process takes work. */
export interface HealthState {
  readonly name: string;
  readonly healthy: boolean;
  /** What is wrong, as a sentence; beside `healthy`, something to look at that keeps nobody from working. Mostly empty. */
  readonly detail: string;
}

/** Body of `GET /health/ready`: 200 when `ready`, else 503. */
export interface HealthReport {
  readonly ready: boolean;
  readonly checks: readonly HealthState[];
}

/** A check takes longer than this: it counts as failed. */
const CHECK_TIMEOUT_MS = 2_000;

/** A named readiness check that a module contributes as a provider: `useFactory: (pool) => new HealthCheck('postgres', () => ping(pool))`. */
export class HealthCheck {
  readonly name: string;
  readonly #check: () => Promise<void> | void;
  readonly #remark: () => Promise<string>;

  /**
   * @param check throws, or rejects, when the thing is not well; the message becomes the detail.
   * @param remark asked when all is well: what is shown beside it; empty for nothing.
   */
  constructor(name: string, check: () => Promise<void> | void, remark = (): Promise<string> => Promise.resolve('')) {
    this.name = name;
    this.#check = check;
    this.#remark = remark;
  }

  async state(): Promise<HealthState> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new Error(`no answer within ${CHECK_TIMEOUT_MS} ms`)), CHECK_TIMEOUT_MS);
    try {
      await Promise.race([this.#check(), late]);
      return { name: this.name, healthy: true, detail: await Promise.race([this.#remark(), late]) };
    } catch (error) {
      return { name: this.name, healthy: false, detail: error instanceof Error ? error.message : String(error) };
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Asks all checks at once. A process that stops is not ready, whatever its checks say. */
export const healthReport = async (checks: readonly HealthCheck[], isStopping: boolean): Promise<HealthReport> => {
  const states = await Promise.all(checks.map((check) => check.state()));
  const stopping: HealthState[] = isStopping ? [{ name: 'process', healthy: false, detail: 'stopping' }] : [];
  const all = [...stopping, ...states];
  return { ready: all.every((state) => state.healthy), checks: all };
};

/** Wakes whoever waits for a change; a hint, so nobody is told what changed. */
export class Changes {
  private readonly waiting = new Set<() => void>();

  announce(): void {
    for (const wake of [...this.waiting]) wake();
  }

  /** Resolves at the next announcement, after `timeoutMs`, or when the signal aborts. Never rejects. */
  next(timeoutMs: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', wake);
        this.waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, timeoutMs);
      signal.addEventListener('abort', wake);
      this.waiting.add(wake);
    });
  }
}

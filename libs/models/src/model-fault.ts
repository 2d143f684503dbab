import type { FaultClass } from '@fixpoint/contracts/events/executor-events';

interface FaultDetails {
  /** The model by the name that tasks use. */
  readonly provider: string;
  readonly faultClass: Extract<FaultClass, 'rate_limit' | 'network' | 'provider_auth'>;
  readonly detail: string;
  /** What the provider asked for; 0: nothing. */
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

/** A provider failed, told by what it answered and never by its words. Says nothing about the work. */
export class ModelFault extends Error {
  override readonly name = 'ModelFault';
  readonly provider: string;
  readonly faultClass: FaultDetails['faultClass'];
  readonly retryAfterMs: number;

  constructor({ provider, faultClass, detail, retryAfterMs = 0, cause }: FaultDetails) {
    super(`${provider}: ${detail}`, { cause });
    this.provider = provider;
    this.faultClass = faultClass;
    this.retryAfterMs = retryAfterMs;
  }
}

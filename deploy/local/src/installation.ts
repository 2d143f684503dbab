/** A running installation, whichever way its services run. */
export interface Installation {
  /** Base URL of the write API. */
  readonly writeUrl: string;
  /** Base URL of the audit API. */
  readonly auditUrl: string;
  /** Base URL of the executors for workers. */
  readonly workerUrl: string;
  /** Where its messages go, for people: `JetStream at nats://…`, or why not. */
  readonly bus: string;
  /** Stops all services gracefully, then what they stood on. */
  close(): Promise<void>;
}

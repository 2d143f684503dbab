export interface PostgresServer {
  /** Connects as a superuser; database `fixpoint`, unless the URL was given. */
  readonly url: string;
  readonly kind: 'url' | 'docker' | 'embedded';
  /** Stops what was started (nothing for `url`) and waits for its end. Removes a temporary folder. Idempotent. */
  stop(): Promise<void>;
}

export interface PostgresOptions {
  /** A server that exists already; it is used as it is. */
  readonly url: string | null;
  /** Value of `DOCKER_HOST`, or null. */
  readonly dockerHost: string | null;
  /** Absolute. Where a private instance lives: kept between starts unless `temporary`. */
  readonly folder: string;
  /** True: the folder is removed at `stop`, and Docker may be used. False: data outlives us, so it stays in the folder. */
  readonly temporary: boolean;
  /** Told what takes long. */
  onProgress(line: string): void;
}

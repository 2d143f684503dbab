import { join } from 'node:path';
import { type NatsServer, type NoNats, startNats } from '@fixpoint/backing-services/nats';
import { startPostgres } from '@fixpoint/backing-services/postgres';

export interface BackingOptions {
  /** Absolute. Where private servers keep their data. */
  readonly folder: string;
  /** True: nothing is kept after `stop`. */
  readonly temporary: boolean;
  /** Servers that exist already; null: private ones. */
  readonly postgresUrl: string | null;
  readonly natsUrl: string | null;
  /** True: no NATS, even where there is one. */
  readonly withoutNats: boolean;
  readonly dockerHost: string | null;
  readonly path: string;
  /** As root on Debian, install a missing `nats-server`. */
  readonly installNats: boolean;
  /** Told what takes long. */
  onProgress(line: string): void;
}

/** What an installation stands on. */
export interface Backing {
  readonly postgresUrl: string;
  /** Null with the reason when there is no NATS here: the bus is then inside the process. */
  readonly natsUrl: string | null;
  readonly noNats: string | null;
  /** Stops what was started, by process id, and waits for its end. */
  stop(): Promise<void>;
}

/**
 * Finds or starts Postgres and NATS.
 * @throws when there is no Postgres; what was started by then is stopped.
 */
export const startBacking = async (options: BackingOptions): Promise<Backing> => {
  const { temporary, dockerHost, onProgress } = options;
  const common = { temporary, dockerHost, onProgress };
  const postgres = await startPostgres({
    ...common,
    url: options.postgresUrl,
    folder: join(options.folder, 'postgres'),
  });
  try {
    const nats = options.withoutNats ? UNWANTED : await privateNats(options);
    const stopNats = nats.kind === 'none' ? () => Promise.resolve() : () => nats.stop();
    return {
      postgresUrl: postgres.url,
      natsUrl: nats.kind === 'none' ? null : nats.url,
      noNats: nats.kind === 'none' ? nats.reason : null,
      stop: async () => {
        await Promise.all([stopNats(), postgres.stop()]);
      },
    };
  } catch (error) {
    await postgres.stop();
    throw error;
  }
};

const UNWANTED: NoNats = { kind: 'none', reason: 'no NATS is wanted' };

const privateNats = ({ natsUrl, installNats, folder, ...options }: BackingOptions): Promise<NatsServer | NoNats> =>
  startNats({ ...options, url: natsUrl, install: installNats, folder: join(folder, 'nats'), port: null });

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type NatsServer, type NoNats, startNats } from '@fixpoint/backing-services/nats';
import { startPostgres } from '@fixpoint/backing-services/postgres';

export interface TestServers {
  readonly postgresUrl: string;
  readonly natsUrl: string;
  /** Stops what was started here and removes its folder. */
  stop(): Promise<void>;
}

export interface TestServersOptions {
  /** Servers that exist already, or null to start private ones. */
  readonly postgresUrl: string | null;
  readonly natsUrl: string | null;
  readonly dockerHost: string | null;
  readonly path: string;
  /** Absolute, of this run only. */
  readonly folder: string;
  onProgress(line: string): void;
}

/**
 * One Postgres and one NATS for a whole test run.
 * @throws when one of them cannot be had: the suite needs the real ones.
 */
export const startTestServers = async (options: TestServersOptions): Promise<TestServers> => {
  await mkdir(options.folder, { recursive: true });
  const shared = { dockerHost: options.dockerHost, temporary: true, onProgress: options.onProgress };
  const postgres = await startPostgres({
    ...shared,
    url: options.postgresUrl,
    folder: join(options.folder, 'postgres'),
  });
  const nats = await startNats({
    ...shared,
    url: options.natsUrl,
    folder: join(options.folder, 'nats'),
    path: options.path,
    install: true,
    port: null,
  }).catch(
    (error: unknown): NoNats => ({ kind: 'none', reason: error instanceof Error ? error.message : String(error) }),
  );
  if (nats.kind === 'none') {
    await postgres.stop();
    throw new Error(`The tests need NATS: ${nats.reason}. Set NATS_URL, or install nats-server 2.9 or newer`);
  }
  return testServers(postgres.url, nats, () => postgres.stop());
};

const testServers = (postgresUrl: string, nats: NatsServer, stopPostgres: () => Promise<void>): TestServers => ({
  postgresUrl,
  natsUrl: nats.url,
  stop: async () => {
    await Promise.all([stopPostgres(), nats.stop()]);
  },
});

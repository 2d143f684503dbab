import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Jest runs this once per run, outside its module system: it loads what `npm run build` made. */
export default async () => {
  if (process.env.FIXPOINT_TEST_SERVERS === 'none') return;
  if (process.env.POSTGRES_URL && process.env.NATS_URL) return;
  const { startTestServers } = await import('@fixpoint/testing/test-servers');
  const folder = join(tmpdir(), `fixpoint-test-${process.pid}`);
  const servers = await startTestServers({
    postgresUrl: process.env.POSTGRES_URL || null,
    natsUrl: process.env.NATS_URL || null,
    dockerHost: process.env.DOCKER_HOST || null,
    path: process.env.PATH ?? '',
    folder,
    onProgress: (line) => process.stderr.write(`${line}\n`),
  });
  process.env.POSTGRES_URL = servers.postgresUrl;
  process.env.NATS_URL = servers.natsUrl;
  globalThis.fixpointTestServers = {
    stop: async () => {
      await servers.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

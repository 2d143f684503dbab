import { dockerAnswers } from './docker.ts';
import { startEmbeddedPostgres } from './embedded-postgres.ts';
import type { PostgresOptions, PostgresServer } from './postgres-server.ts';

/**
 * Gives a Postgres: the URL's, else a Docker container, else a private instance from npm's binaries on a free port.
 * If this process is killed, its private instance or container stops by itself within seconds.
 * @throws when none of them can be had; the message says why for the last one tried.
 */
export const startPostgres = async (options: PostgresOptions): Promise<PostgresServer> => {
  if (options.url !== null) return { url: options.url, kind: 'url', stop: () => Promise.resolve() };
  if (options.temporary && (await dockerAnswers(options.dockerHost))) return startContainer(options);
  return startEmbeddedPostgres(options);
};

const startContainer = async (options: PostgresOptions): Promise<PostgresServer> => {
  options.onProgress('starting Postgres in Docker');
  // Loaded here because it takes about a second and most starts have no engine.
  const { PostgreSqlContainer } = await import('@testcontainers/postgresql');
  const container = await new PostgreSqlContainer('postgres:18-alpine')
    .withDatabase('fixpoint')
    .withCommand(['postgres', '-c', 'max_connections=300'])
    .start();
  return {
    url: container.getConnectionUri(),
    kind: 'docker',
    stop: async () => {
      await container.stop();
    },
  };
};

import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@fixpoint/backing-services/postgres';
import { fixpointClient } from '@fixpoint/client/client';
import { examplePath } from '@fixpoint/examples/example-path';
import { examples } from '@fixpoint/examples/examples';
import { runExample } from '@fixpoint/examples/run-example';
import { startEmbedded } from '@fixpoint/local/embedded';
import { silentLog } from '@fixpoint/runtime/log';
import { Client } from 'pg';

/** Ten fixes say little that three do not, and the log would be twice as long. */
const LEFT_OUT = ['never-passes/tug-of-war'];

const ALL = `
  select stream, version, root, type, schema_version, id, occurred_at, metadata::text as metadata, data::text as data,
    encode(hash, 'hex') as hash
  from store.event order by epoch, xid, position`;

/** Runs the examples on an installation of their own, and gives back their events as they are stored, one JSON a line. */
const recordLog = async (folder: string): Promise<string> => {
  const postgres = await startPostgres({
    ...{ temporary: true, url: null, dockerHost: process.env.DOCKER_HOST ?? null, folder: join(folder, 'postgres') },
    onProgress: console.error,
  });
  try {
    await runExamples(folder, postgres.url);
    const client = new Client({ connectionString: postgres.url });
    await client.connect();
    const { rows } = await client.query(ALL);
    await client.end();
    return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  } finally {
    await postgres.stop();
  }
};

const runExamples = async (folder: string, postgresUrl: string): Promise<void> => {
  const path = examplePath(process.env.PATH);
  const installation = await startEmbedded({
    ...{ postgresUrl, natsUrl: null, withoutNats: true, dockerHost: null, installNats: false, temporary: true },
    ...{ host: '127.0.0.1', port: 0, apiKeys: [], drainMs: 5_000, concurrency: 4, log: silentLog },
    ...{ folder: join(folder, 'installation'), path, onProgress: console.error },
  });
  try {
    const client = fixpointClient({ writeUrl: installation.writeUrl, auditUrl: installation.auditUrl, apiKey: null });
    for (const example of examples.filter(({ name }) => !LEFT_OUT.includes(name))) {
      const { workerUrl } = installation;
      const { surprises } = await runExample(example, { client, folder, path, workerUrl, timeoutMs: 150_000 });
      if (surprises.length > 0) throw new Error(`${example.name}: ${surprises.join('; ')}`);
      console.error(example.name);
    }
  } finally {
    await installation.close();
  }
};

/** Writes the golden log of the version that package.json names. One that exists is history and is never written again. */
const main = async (): Promise<void> => {
  const { version } = JSON.parse(await readFile('package.json', 'utf8'));
  const file = `test/golden/${version}.jsonl`;
  if (existsSync(file)) throw new Error(`${file} exists: the log of a release never changes`);
  const folder = await mkdtemp(join(tmpdir(), 'fixpoint-golden-'));
  try {
    const log = await recordLog(folder);
    await writeFile(file, log);
    console.log(`${file}: ${log.split('\n').length - 1} events, ${log.length} bytes`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

await main();

import { join } from 'node:path';
import { examples } from '@fixpoint/examples/examples';
import { runExample } from '@fixpoint/examples/run-example';
import { type TestDatabase, testDatabase } from '@fixpoint/testing/test-database';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type RunningInstallation, startInstallation } from './installation.ts';
import { type ModelServer, modelServer } from './model-server.ts';

const LONG_MS = 180_000;
const PRICE = { input: 2_000_000, output: 10_000_000 };

let database: TestDatabase;
let server: ModelServer;
let installation: RunningInstallation;

beforeAll(async () => {
  database = await testDatabase();
  server = await modelServer();
  const models = { default: { model: `openai-compatible:ours@${server.url}`, price: PRICE } };
  const modelEnv = { FIXPOINT_MODELS: JSON.stringify(models), FIXPOINT_COUNCIL: 'default' };
  installation = await startInstallation({ postgresUrl: database.url, modelEnv });
}, LONG_MS);

afterAll(async () => {
  await installation.stop();
  await server.close();
  await database.close();
}, LONG_MS);

const ran = async (name: string) => {
  const example = examples.find((each) => each.name === name);
  if (example === undefined) throw new Error(`there is no example ${name}`);
  const { client, path, workerUrl, folder } = installation;
  const before = server.asked.length;
  const options = { client, path, workerUrl, folder: join(folder, 'with-a-model'), timeoutMs: LONG_MS };
  const { surprises, lineage } = await runExample(example, options);
  return { surprises, lineage, asked: server.asked.slice(before) };
};

describe('five processes that ask a model over HTTP', () => {
  test(
    'have commands of the example corrected by it, and say what that cost',
    async () => {
      const { surprises, lineage, asked } = await ran('commit-deps');
      expect(surprises).toEqual([]);
      expect(asked).toEqual(['repair', 'repair']);
      expect([lineage.tokens, lineage.money_micros]).toEqual([300, 1_400]);
    },
    LONG_MS,
  );

  test(
    'have what is too big cut by a council of it, part and part of part, and say what that cost',
    async () => {
      const { surprises, lineage, asked } = await ran('too-big');
      expect(surprises).toEqual([]);
      const council = ['direction', 'direction', 'direction', 'review'];
      expect(asked).toEqual([...council, ...council]);
      expect([lineage.tokens, lineage.money_micros]).toEqual([1_200, 5_600]);
    },
    LONG_MS,
  );
});

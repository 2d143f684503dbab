import { readFile, writeFile } from 'node:fs/promises';
import type { MigrationSource } from '@fixpoint/event-store/migrate';
import { expect, test } from '@jest/globals';
import { Client } from 'pg';
import { schemaDump } from './schema-dump.ts';
import { testDatabase } from './test-database.ts';

export interface CheckedInSchema {
  readonly migrations: readonly MigrationSource[];
  readonly schemas: readonly string[];
  /** The dump beside the migrations; a review reads it, the machine runs the steps. */
  readonly file: URL;
}

/** What a room's checked-in dump promises. */
export const schemaContract = ({ migrations, schemas, file }: CheckedInSchema): void => {
  test('schema.sql is what the migrations make (FIXPOINT_WRITE_SCHEMA=1 writes it)', async () => {
    const database = await testDatabase({ migrations: [...migrations] });
    const client = new Client({ connectionString: database.url });
    await client.connect();
    try {
      const dump = await schemaDump(client, [...schemas]);
      if (process.env.FIXPOINT_WRITE_SCHEMA === '1') await writeFile(file, dump);
      expect(dump).toBe(await readFile(file, 'utf8'));
    } finally {
      await client.end();
      await database.close();
    }
  }, 60_000);
};

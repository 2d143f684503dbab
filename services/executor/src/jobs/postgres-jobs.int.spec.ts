import { SERVICE_ROLES } from '@fixpoint/event-store/roles';
import { storePool } from '@fixpoint/event-store/store-pool';
import { testDatabase } from '@fixpoint/testing/test-database';
import { jest } from '@jest/globals';
import { EXECUTOR_MIGRATIONS } from '../migrations.ts';
import { jobsContract } from './jobs.contract.ts';
import { postgresJobs } from './postgres-jobs.ts';

jest.setTimeout(30_000);

jobsContract('jobs in Postgres', async () => {
  const database = await testDatabase({ migrations: [EXECUTOR_MIGRATIONS] });
  const pool = storePool({ url: database.url, role: SERVICE_ROLES.executor, applicationName: 'test' }, 8);
  return {
    jobs: postgresJobs(pool),
    pass: async (ms) => void (await pool.query('select pg_sleep($1)', [ms / 1_000])),
    close: async () => {
      await pool.end();
      await database.close();
    },
  };
});

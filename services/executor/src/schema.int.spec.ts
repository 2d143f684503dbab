import { schemaContract } from '@fixpoint/testing/schema.contract';
import { EXECUTOR_MIGRATIONS } from './migrations.ts';

schemaContract({
  migrations: [EXECUTOR_MIGRATIONS],
  schemas: ['executor'],
  file: new URL('../schema.sql', import.meta.url),
});

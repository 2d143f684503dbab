import { schemaContract } from '@fixpoint/testing/schema.contract';
import { AUDITOR_MIGRATIONS } from './migrations.ts';

schemaContract({
  migrations: [AUDITOR_MIGRATIONS],
  schemas: ['audit'],
  file: new URL('../schema.sql', import.meta.url),
});

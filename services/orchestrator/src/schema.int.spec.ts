import { schemaContract } from '@fixpoint/testing/schema.contract';
import { ORCHESTRATOR_MIGRATIONS } from './migrations.ts';

schemaContract({
  migrations: [ORCHESTRATOR_MIGRATIONS],
  schemas: ['orchestrator'],
  file: new URL('../schema.sql', import.meta.url),
});

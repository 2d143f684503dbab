import { schemaContract } from '@fixpoint/testing/schema.contract';
import { VALIDATOR_MIGRATIONS } from './migrations.ts';

schemaContract({
  migrations: [VALIDATOR_MIGRATIONS],
  schemas: ['validator'],
  file: new URL('../schema.sql', import.meta.url),
});

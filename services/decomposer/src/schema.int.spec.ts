import { schemaContract } from '@fixpoint/testing/schema.contract';
import { DECOMPOSER_MIGRATIONS } from './migrations.ts';

schemaContract({
  migrations: [DECOMPOSER_MIGRATIONS],
  schemas: ['decomposer'],
  file: new URL('../schema.sql', import.meta.url),
});

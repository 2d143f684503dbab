import { schemaContract } from '@fixpoint/testing/schema.contract';

schemaContract({ migrations: [], schemas: ['store'], file: new URL('../schema.sql', import.meta.url) });

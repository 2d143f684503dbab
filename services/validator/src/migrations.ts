import type { MigrationSource } from '@fixpoint/event-store/migrate';

/** The schema `validator`: leases of gates and judgements. */
export const VALIDATOR_MIGRATIONS: MigrationSource = {
  name: 'validator',
  folder: new URL('../migrations/', import.meta.url),
};

import type { MigrationSource } from '@fixpoint/event-store/migrate';

/** The schema `executor`: leases of runs. */
export const EXECUTOR_MIGRATIONS: MigrationSource = {
  name: 'executor',
  folder: new URL('../migrations/', import.meta.url),
};

import type { MigrationSource } from '@fixpoint/event-store/migrate';

/** The schema `audit`: read model of this service and views for SQL readers. */
export const AUDITOR_MIGRATIONS: MigrationSource = {
  name: 'auditor',
  folder: new URL('../migrations/', import.meta.url),
};

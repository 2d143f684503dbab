import type { MigrationSource } from '@fixpoint/event-store/migrate';

/** The schema `decomposer`: leases of requests. */
export const DECOMPOSER_MIGRATIONS: MigrationSource = {
  name: 'decomposer',
  folder: new URL('../migrations/', import.meta.url),
};

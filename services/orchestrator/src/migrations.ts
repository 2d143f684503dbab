import type { MigrationSource } from '@fixpoint/event-store/migrate';

/** The schema `orchestrator`: what lineages wait for, and their timers. */
export const ORCHESTRATOR_MIGRATIONS: MigrationSource = {
  name: 'orchestrator',
  folder: new URL('../migrations/', import.meta.url),
};

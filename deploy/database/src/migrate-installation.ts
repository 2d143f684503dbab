import { AUDITOR_MIGRATIONS } from '@fixpoint/auditor/migrations';
import { eventOwners } from '@fixpoint/contracts/events/catalogue';
import { DECOMPOSER_MIGRATIONS } from '@fixpoint/decomposer/migrations';
import { migrate } from '@fixpoint/event-store/migrate';
import { EXECUTOR_MIGRATIONS } from '@fixpoint/executor/migrations';
import { ORCHESTRATOR_MIGRATIONS } from '@fixpoint/orchestrator/migrations';
import { VALIDATOR_MIGRATIONS } from '@fixpoint/validator/migrations';

/**
 * Brings a database to this release: the event store, every service's schema, who may append what.
 * @param url connects as a user that may create roles.
 * @returns what ran; empty when there was nothing to do.
 */
export const migrateInstallation = (url: string): Promise<readonly string[]> =>
  migrate({
    url,
    sources: [
      ORCHESTRATOR_MIGRATIONS,
      VALIDATOR_MIGRATIONS,
      EXECUTOR_MIGRATIONS,
      DECOMPOSER_MIGRATIONS,
      AUDITOR_MIGRATIONS,
    ],
    eventTypes: eventOwners(),
  });

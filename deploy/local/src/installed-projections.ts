import { readModel } from '@fixpoint/auditor/projections/read-model';
import type { Projection } from '@fixpoint/event-store/projection';
import { type RebuildOptions, type Rebuilt, rebuildProjection } from '@fixpoint/event-store/rebuild-projection';
import {
  type Reconciled,
  type ReconcileOptions,
  reconcileProjection,
} from '@fixpoint/event-store/reconcile-projection';
import { SERVICE_ROLES, type StoreRole } from '@fixpoint/event-store/roles';
import { waitRows } from '@fixpoint/orchestrator/waits/postgres-waits';
import type { Kysely } from 'kysely';

/** A projection of one of the services, with its tables' types closed in. */
export interface InstalledProjection {
  readonly name: string;
  /** Whose tables they are. */
  readonly role: StoreRole;
  readonly tables: readonly string[];
  /** @param options with a database of the owner. */
  rebuild(options: Omit<RebuildOptions<unknown>, 'projection'>): Promise<Rebuilt>;
  /** @param options with a database of the role. */
  reconcile(options: Omit<ReconcileOptions<unknown>, 'projection'>): Promise<Reconciled>;
}

const installed = <Tables>(projection: Projection<Tables>, role: StoreRole): InstalledProjection => {
  const { name, schema, tables } = projection;
  // A connection has no tables of its own: their types are the projection's.
  const typed = (db: Kysely<unknown>): Kysely<Tables> => db as unknown as Kysely<Tables>;
  return {
    name,
    role,
    tables: tables.map((table) => `${schema}.${table.name}`),
    rebuild: (options) => rebuildProjection({ ...options, db: typed(options.db), projection }),
    reconcile: (options) => reconcileProjection({ ...options, db: typed(options.db), projection }),
  };
};

/** Every projection that an installation keeps. Executor, validator and decomposer have none: leases are no projection. */
export const INSTALLED_PROJECTIONS: readonly InstalledProjection[] = [
  installed(readModel, SERVICE_ROLES.auditor),
  installed(waitRows, SERVICE_ROLES.orchestrator),
];

import type { Client } from 'pg';
import { sqlState } from './postgres-fault.ts';

/** Owns every object. Nobody logs in as it; the migration job becomes it. */
export const OWNER_ROLE = 'fixpoint_owner';

/** A service appends as this role and thereby only its own types. */
export const SERVICE_ROLES = {
  orchestrator: 'fixpoint_orchestrator',
  validator: 'fixpoint_validator',
  executor: 'fixpoint_executor',
  decomposer: 'fixpoint_decomposer',
  auditor: 'fixpoint_auditor',
} as const;

/** Member of every service role, for a process that holds all services. */
export const EMBEDDED_ROLE = 'fixpoint_embedded';

export type StoreRole = (typeof SERVICE_ROLES)[keyof typeof SERVICE_ROLES] | typeof EMBEDDED_ROLE;

const SERVICES: readonly string[] = Object.values(SERVICE_ROLES);
const ALL_ROLES: readonly string[] = [OWNER_ROLE, EMBEDDED_ROLE, ...SERVICES];

/** Another database of this server may be migrated at the same moment, and roles belong to the server. */
const RACES = new Set(['23505', '42710', 'XX000']);
const ATTEMPTS = 20;

const missingRoles = async (client: Client): Promise<string[]> => {
  const { rows } = await client.query<{ role: string }>(
    'select r as role from unnest($1::text[]) r where not exists (select from pg_roles where rolname = r)',
    [ALL_ROLES],
  );
  return rows.map(({ role }) => role);
};

const missingGrants = async (client: Client): Promise<{ group: string; member: string }[]> => {
  const { rows } = await client.query<{ group: string; member: string }>(
    `select g as "group", $2::text as member from unnest($1::text[]) g where not pg_has_role($2, g, 'member')
     union all
     select r, current_user from unnest($3::text[]) r where not pg_has_role(current_user, r, 'member')
     union all
     select 'pg_read_all_stats', r from unnest($3::text[]) r
     where r <> $4 and pg_has_role(current_user, 'pg_read_all_stats', 'member') and not pg_has_role(r, 'pg_read_all_stats', 'member')`,
    [SERVICES, EMBEDDED_ROLE, ALL_ROLES, OWNER_ROLE],
  );
  return rows;
};

/** Where somebody else set the roles up, what is still missing shows at its use, with a clearer message than here. */
const grantIfAllowed = async (client: Client, grant: string): Promise<void> => {
  try {
    await client.query(grant);
  } catch (error) {
    if (sqlState(error) !== '42501') throw error;
  }
};

const createOnce = async (client: Client): Promise<void> => {
  for (const role of await missingRoles(client)) {
    await client.query(`create role ${client.escapeIdentifier(role)} nologin`);
  }
  for (const { group, member } of await missingGrants(client)) {
    await grantIfAllowed(client, `grant ${client.escapeIdentifier(group)} to ${client.escapeIdentifier(member)}`);
  }
  const { rows } = await client.query<{ grant: string }>(
    `select format('grant create on database %I to %I', current_database(), $1::text) as grant
     where not has_database_privilege($1, current_database(), 'create')`,
    [OWNER_ROLE],
  );
  for (const { grant } of rows) await client.query(grant);
};

const createUnlessRaced = async (client: Client): Promise<boolean> => {
  try {
    await createOnce(client);
    return true;
  } catch (error) {
    if (RACES.has(sqlState(error) ?? '')) return false;
    throw error;
  }
};

/**
 * Creates the roles that are missing and makes the connected user a member of each, so that it may become them.
 * `pg_read_all_stats` lets a service name the session that holds its watermark; where it cannot be given, it says less.
 * @throws when the connected user may not create roles and some are missing.
 */
export const createRoles = async (client: Client): Promise<void> => {
  for (let attempt = 1; attempt < ATTEMPTS; attempt += 1) {
    if (await createUnlessRaced(client)) return;
  }
  await createOnce(client);
};

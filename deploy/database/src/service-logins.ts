import { SERVICE_ROLES } from '@fixpoint/event-store/roles';
import { Client, DatabaseError } from 'pg';

export type Service = keyof typeof SERVICE_ROLES;

/** User that a service connects as; it may become the role of that service and of no other. */
export const loginOf = (service: Service): string => `${SERVICE_ROLES[service]}_login`;

export const SERVICES = Object.keys(SERVICE_ROLES) as readonly Service[];

/**
 * Gives each service a login of its own with this password; a login that exists gets the password too. The roles must be
 * there (`migrateInstallation`).
 * @param url connects as a user that may create roles.
 */
export const createLogins = async (url: string, passwords: Readonly<Record<Service, string>>): Promise<void> => {
  const client = new Client({ connectionString: url, application_name: 'fixpoint database' });
  await client.connect();
  try {
    for (const service of SERVICES) await createLogin(client, service, passwords[service]);
  } finally {
    await client.end();
  }
};

/** Roles belong to the server, and another database of it may be prepared at the same moment. */
const RACES = new Set(['23505', '42710', 'XX000']);
const ATTEMPTS = 20;

const createLogin = async (client: Client, service: Service, password: string): Promise<void> => {
  for (let attempt = 1; attempt < ATTEMPTS; attempt += 1) {
    if (await createUnlessRaced(client, service, password)) return;
  }
  await alterLogin(client, service, password);
};

const createUnlessRaced = async (client: Client, service: Service, password: string): Promise<boolean> => {
  try {
    await alterLogin(client, service, password);
    return true;
  } catch (error) {
    if (error instanceof DatabaseError && RACES.has(error.code ?? '')) return false;
    throw error;
  }
};

const alterLogin = async (client: Client, service: Service, password: string): Promise<void> => {
  const login = client.escapeIdentifier(loginOf(service));
  const { rowCount } = await client.query('select from pg_roles where rolname = $1', [loginOf(service)]);
  if (rowCount === 0) await client.query(`create role ${login}`);
  await client.query(`alter role ${login} login password ${client.escapeLiteral(password)}`);
  await client.query(`grant ${client.escapeIdentifier(SERVICE_ROLES[service])} to ${login}`);
};

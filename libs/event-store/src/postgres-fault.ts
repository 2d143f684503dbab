import { DatabaseError } from 'pg';

/** SQLSTATE of an error that Postgres reported; null for anything else. */
export const sqlState = (error: unknown): string | null =>
  error instanceof DatabaseError ? (error.code ?? null) : null;

/** Server and database of a URL, without user and password: what a message may show. */
export const addressOf = (url: string): string => {
  const { hostname, port, pathname } = new URL(url);
  return `${hostname === '' ? 'localhost' : hostname}:${port === '' ? '5432' : port}${pathname}`;
};

/** The world failed: says which server, keeps the cause. */
export const postgresFault = (address: string, error: unknown): Error => {
  const causes = error instanceof AggregateError ? error.errors : [error];
  const said = causes.map((cause: unknown) => (cause instanceof Error ? cause.message : String(cause))).join('; ');
  return new Error(`Postgres at ${address}: ${said}`, { cause: error });
};

/** No schema, no table, no role: somebody still has to migrate. Any other report of the server stands for itself. */
const UNMIGRATED = new Set(['3F000', '42P01', '22023']);

/** True for what a server says that holds no event store for this role. */
export const isUnmigrated = (error: unknown): boolean => UNMIGRATED.has(sqlState(error) ?? '');

/** True when a server was reached and let nobody in: who asks, the password, or the name of the database is wrong. */
export const isTurnedAway = (error: unknown): boolean =>
  /^(28...|3D000)$/.test(sqlState(error) ?? '') || (error instanceof Error && error.message.startsWith('SASL'));

/** Not reached, or reached while it starts or stops; anything it says itself is final. */
export const isUnreachable = (error: unknown): boolean => {
  if (typeof error !== 'object' || error === null) return false;
  const code = 'code' in error ? String(error.code) : '';
  return (
    /^(E[A-Z]+|08...|57P0.)$/.test(code) || ('message' in error && /timeout|terminated/i.test(String(error.message)))
  );
};

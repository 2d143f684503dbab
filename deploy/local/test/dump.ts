import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { migrateInstallation } from '@fixpoint/database/migrate-installation';
import { migrateRoles } from '@fixpoint/event-store/migrate';
import { Client, escapeIdentifier } from 'pg';

const execute = promisify(execFile);

/** A database as it was at one moment, to be restored into an empty one on any server. */
export interface Dump {
  readonly how: 'pg_dump' | 'rows';
  restore(url: string): Promise<void>;
}

const onServer = async <Result>(url: string, work: (client: Client) => Promise<Result>): Promise<Result> => {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
};

/**
 * Takes a dump while others write, with `pg_dump` where this machine has one that is not older than the server; else of
 * the rows of every table, in one snapshot as `pg_dump` does.
 * @param file absolute; made for `pg_dump`.
 */
export const dump = async (url: string, file: string): Promise<Dump> => {
  if (!(await pgDumpFits(url))) return dumpRows(url);
  await execute('pg_dump', ['-Fc', '-f', file, url]);
  return {
    how: 'pg_dump',
    restore: async (target) => {
      await migrateRoles(target);
      await execute('pg_restore', ['--exit-on-error', '-d', target, file]);
    },
  };
};

const pgDumpFits = async (url: string): Promise<boolean> => {
  const [{ stdout }, server] = await Promise.all([
    execute('pg_dump', ['--version']).catch(() => ({ stdout: '' })),
    onServer(url, async (client) => (await client.query<{ version: number }>(VERSION)).rows[0]?.version ?? 0),
  ]);
  return Number(/ (\d+)/.exec(stdout)?.[1] ?? 0) >= server;
};

const VERSION = `select current_setting('server_version_num')::int / 10000 as version`;

interface TableRows {
  readonly table: string;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  /** Values of each column as texts. */
  readonly values: readonly (readonly (string | null)[])[];
}

const COLUMNS = `
select format('%I.%I', n.nspname, c.relname) as table,
  json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod)) order by a.attnum) as columns
from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
where c.relkind = 'r' and a.attnum > 0 and not a.attisdropped and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
group by 1 order by 1`;

const dumpRows = (url: string): Promise<Dump> =>
  onServer(url, async (client) => {
    await client.query('begin isolation level repeatable read read only');
    const { rows } = await client.query<Pick<TableRows, 'table' | 'columns'>>(COLUMNS);
    const tables: TableRows[] = [];
    for (const { table, columns } of rows) {
      const texts = columns.map(({ name }) => `array_agg(${escapeIdentifier(name)}::text)`).join(', ');
      const [values] = (await client.query({ text: `select ${texts} from ${table}`, rowMode: 'array' })).rows;
      tables.push({ table, columns, values: values ?? [] });
    }
    return { how: 'rows', restore: (target: string) => restoreRows(target, tables) };
  });

const restoreRows = async (url: string, tables: readonly TableRows[]): Promise<void> => {
  await migrateInstallation(url);
  await onServer(url, async (client) => {
    await client.query('begin');
    for (const { table, columns, values } of tables) {
      // Some tables are filled by migrations; the log is not, and refuses this.
      if (table !== 'store.event') await client.query(`delete from ${table}`);
      if (values[0] === null || values[0] === undefined) continue;
      const names = columns.map(({ name }) => escapeIdentifier(name));
      const casts = columns.map(({ name, type }) => `u.${escapeIdentifier(name)}::${type}`);
      const arrays = columns.map((_, index) => `$${index + 1}::text[]`);
      await client.query(
        `insert into ${table} (${names}) overriding system value select ${casts} from unnest(${arrays}) u (${names})`,
        [...values],
      );
    }
    await client.query('commit');
  });
};

import { type Kysely, sql, type Transaction } from 'kysely';
import { columnsOf } from './projected-rows.ts';
import type { ProjectedTable, Projection } from './projection.ts';

/** What a projection is and where; what its events mean does not matter here. */
export type ProjectionTables = Pick<Projection<never>, 'name' | 'schema' | 'tables'>;

/** Schema of the tables that are built beside the live ones of `schema`. */
export const besideSchema = (schema: string): string => `${schema}_beside`;

/** Schema that holds the tables that were replaced, for the moment of the swap. */
const replacedSchema = (schema: string): string => `${schema}_replaced`;

type Any = Transaction<unknown>;

/**
 * Makes empty tables like the live ones: columns, constraints, storage options, comments and grants. Rows that no event
 * makes are taken over. Needs the rights of the owner.
 * @throws for what a copy would not have: triggers, policies, foreign keys.
 */
export const createBeside = async (transaction: Any, { schema, tables }: ProjectionTables): Promise<void> => {
  const beside = besideSchema(schema);
  await sql`drop schema if exists ${sql.ref(beside)} cascade`.execute(transaction);
  await sql`create schema ${sql.ref(beside)}`.execute(transaction);
  for (const table of tables) await createTable(transaction, { live: schema, beside, table });
};

interface Copy {
  readonly live: string;
  readonly beside: string;
  readonly table: ProjectedTable;
}

const createTable = async (transaction: Any, copy: Copy): Promise<void> => {
  const { live, beside, table } = copy;
  const [old, own] = [`${live}.${table.name}`, `${beside}.${table.name}`];
  await refuseUncopied(transaction, old);
  await sql`create table ${sql.table(own)} (like ${sql.table(old)} including all excluding indexes)`.execute(
    transaction,
  );
  for (const statement of await statementsOf(transaction, copy)) await sql.raw(statement).execute(transaction);
  if (table.given === undefined) return;
  await sql`insert into ${sql.table(own)} select * from ${sql.table(old)} where ${sql.raw(table.given)}`.execute(
    transaction,
  );
};

const refuseUncopied = async (transaction: Any, table: string): Promise<void> => {
  const { rows } = await sql<{ what: string }>`
    select 'trigger ' || tgname as what from pg_trigger where tgrelid = ${table}::regclass and not tgisinternal
    union all select 'policy ' || polname from pg_policy where polrelid = ${table}::regclass
    union all select 'foreign key ' || conname from pg_constraint
      where ${table}::regclass in (conrelid, confrelid) and contype = 'f'`.execute(transaction);
  if (rows.length === 0) return;
  throw new Error(
    `${table} can't be built beside: a copy would not have its ${rows.map(({ what }) => what).join(', ')}`,
  );
};

/** What `like` leaves out, as statements about the copy. */
const statementsOf = async (transaction: Any, { live, beside, table }: Copy): Promise<readonly string[]> => {
  const [old, own] = [`${live}.${table.name}`, `${beside}.${table.name}`];
  const { rows } = await sql<{ statement: string }>`
    select statement from (
      select 1 as place, format('alter table ${sql.raw(own)} set (%s)', array_to_string(reloptions, ', ')) as statement
      from pg_class where oid = ${old}::regclass and reloptions is not null
      union all
      select 2, format('comment on table ${sql.raw(own)} is %L', obj_description(${old}::regclass, 'pg_class'))
      union all
      select 3, format('grant %s on ${sql.raw(own)} to %s', privilege_type,
        case grantee when 0 then 'public' else quote_ident(pg_get_userbyid(grantee)) end)
      from pg_class c, aclexplode(c.relacl) where c.oid = ${old}::regclass and grantee <> c.relowner
      union all
      select 4, format('alter table ${sql.raw(own)} add constraint %I %s', conname, pg_get_constraintdef(oid))
      from pg_constraint where conrelid = ${old}::regclass and contype in ('p', 'u')
    ) each order by place`.execute(transaction);
  return rows.map(({ statement }) => statement);
};

/**
 * Statements that give the tables built beside the other indexes of the live ones, by the same names. For filled tables:
 * an index that grows row by row costs as much as all the rest. Not for a transaction, and made so that none is held open
 * meanwhile, since its xid would keep every reader of the log waiting; they wait for whoever reads an older snapshot.
 */
export const besideIndexes = async (
  db: Kysely<unknown>,
  { schema, tables }: ProjectionTables,
): Promise<readonly string[]> => {
  const statements: string[] = [];
  for (const { name } of tables) {
    const [old, own] = [`${schema}.${name}`, `${besideSchema(schema)}.${name}`];
    const { rows } = await sql<{ statement: string }>`
      select regexp_replace(regexp_replace(pg_get_indexdef(i.indexrelid), ' ON \\S+ USING ', ' ON ${sql.raw(own)} USING '),
        '^CREATE (UNIQUE )?INDEX', 'create \\1index concurrently') as statement
      from pg_index i where i.indrelid = ${old}::regclass
        and not exists (select from pg_constraint c where c.conindid = i.indexrelid)`.execute(db);
    statements.push(...rows.map(({ statement }) => statement));
  }
  return statements;
};

/**
 * Puts the tables built beside in the place of the live ones, which are gone afterwards. What others keep up to date is
 * taken over first, and views read the new tables. Whoever reads or writes the live ones waits, or is waited for.
 */
export const swapBeside = async (transaction: Any, projection: ProjectionTables): Promise<void> => {
  const { schema, tables } = projection;
  const [beside, replaced] = [besideSchema(schema), replacedSchema(schema)];
  const live = sql.join(tables.map(({ name }) => sql.table(`${schema}.${name}`)));
  await sql`lock table ${live} in access exclusive mode`.execute(transaction);
  for (const table of tables) await takeOver(transaction, { live: schema, beside, table });
  const views = await viewsOf(transaction, projection);
  await sql`drop schema if exists ${sql.ref(replaced)} cascade`.execute(transaction);
  await sql`create schema ${sql.ref(replaced)}`.execute(transaction);
  for (const { name } of tables) {
    await sql`alter table ${sql.table(`${schema}.${name}`)} set schema ${sql.ref(replaced)}`.execute(transaction);
    await sql`alter table ${sql.table(`${beside}.${name}`)} set schema ${sql.ref(schema)}`.execute(transaction);
  }
  for (const view of views) await sql.raw(view).execute(transaction);
  await sql`drop schema ${sql.ref(replaced)} cascade`.execute(transaction);
  await sql`drop schema ${sql.ref(beside)} cascade`.execute(transaction);
};

/** Rows that say the same get what others keep in them; rows that others have removed since are removed. */
const takeOver = async (transaction: Any, { live, beside, table }: Copy): Promise<void> => {
  const { name, key, kept = [], removableAfter } = table;
  const [old, own] = [sql.table(`${live}.${name}`), sql.table(`${beside}.${name}`)];
  if (kept.length > 0) {
    const told = (await columnsOf(transaction, live, name)).filter((column) => !kept.includes(column));
    const row = (alias: string) => sql`row(${sql.join(told.map((column) => sql.ref(`${alias}.${column}`)))})::text`;
    const taken = sql.join(kept.map((column) => sql`${sql.ref(column)} = ${sql.ref(`l.${column}`)}`));
    await sql`update ${own} b set ${taken} from ${old} l where ${same(key)} and ${row('b')} = ${row('l')}`.execute(
      transaction,
    );
  }
  if (removableAfter === undefined) return;
  await sql`delete from ${own} b where ${sql.ref(`b.${removableAfter}`)} <= clock_timestamp()
    and not exists (select from ${old} l where ${same(key)})`.execute(transaction);
};

const same = (key: readonly string[]) =>
  sql.join(
    key.map((column) => sql`${sql.ref(`b.${column}`)} = ${sql.ref(`l.${column}`)}`),
    sql` and `,
  );

/** Statements that make the views on the live tables anew: a view is bound to a table, not to its name. */
const viewsOf = async (transaction: Any, { schema, tables }: ProjectionTables): Promise<readonly string[]> => {
  const names = tables.map(({ name }) => `${schema}.${name}`);
  await sql`set local search_path = pg_catalog`.execute(transaction);
  const { rows } = await sql<{ statement: string; kind: string; name: string }>`
    select distinct v.relkind as kind, v.oid::regclass::text as name, format('create or replace view %s %s as %s',
      v.oid::regclass, 'with (' || array_to_string(v.reloptions, ', ') || ')', pg_get_viewdef(v.oid)) as statement
    from pg_depend d join pg_rewrite r on r.oid = d.objid join pg_class v on v.oid = r.ev_class
    where d.classid = 'pg_rewrite'::regclass and d.refclassid = 'pg_class'::regclass
      and d.refobjid = any(${names}::text[]::regclass[]) and v.oid <> all(${names}::text[]::regclass[])`.execute(
    transaction,
  );
  const [stored] = rows.filter(({ kind }) => kind !== 'v');
  if (stored !== undefined) throw new Error(`${stored.name} depends on ${schema} and is no plain view`);
  return rows.map(({ statement }) => statement);
};

/** Removes what an unfinished rebuild has left. */
export const dropBeside = async (db: Kysely<unknown> | Any, { schema }: ProjectionTables): Promise<void> => {
  await sql`drop schema if exists ${sql.ref(besideSchema(schema))} cascade`.execute(db);
};

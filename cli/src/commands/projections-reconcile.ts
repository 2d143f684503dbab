import { cursorToken } from '@fixpoint/contracts/rest/cursor-token';
import { PostgresEventStore } from '@fixpoint/event-store/postgres-event-store';
import type { Difference, Reconciled } from '@fixpoint/event-store/reconcile-projection';
import { recordReconciliation } from '@fixpoint/event-store/reconciliations';
import { roleDatabase } from '@fixpoint/event-store/role-database';
import { EMBEDDED_ROLE } from '@fixpoint/event-store/roles';
import type { InstalledProjection } from '@fixpoint/local/installed-projections';
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { namedProjections } from '../named-projections.ts';
import { everySecond } from '../output/every-second.ts';
import { type DatabaseOptions, onDatabase, withDatabase } from '../store-database.ts';

/** `fixpoint projections reconcile [NAME…]` */
export const addProjectionsReconcile = (projections: Command, context: Context): void => {
  withDatabase(projections.command('reconcile'))
    .description('compare projections with a fold of the log, row by row, and name the rows that differ')
    .argument('[names...]', 'projections, as `list` names them (default: all)')
    .addHelpText('after', '\nEnds with 1 when a row differs. `rebuild` mends it.')
    .action(async (names: readonly string[], options: DatabaseOptions) => {
      let differing = 0;
      for (const projection of await namedProjections(names)) {
        const found = await onDatabase(options, context, (url) => reconcileOn(projection, url, context));
        tell(projection.name, found, { options, context });
        differing += found.differing;
      }
      context.exitCode = differing === 0 ? EXIT.ok : EXIT.failed;
    });
};

const reconcileOn = async (projection: InstalledProjection, url: string, context: Context): Promise<Reconciled> => {
  const { name, role } = projection;
  const applicationName = 'fixpoint projections';
  const store = new PostgresEventStore({ url, role: EMBEDDED_ROLE, applicationName });
  const db = roleDatabase({ url, role, applicationName, statementTimeoutMs: STATEMENT_MS }, 3);
  try {
    const onProgress = everySecond<number>((events) => context.terminal.note(`${name}: ${events} events folded`));
    const found = await projection.reconcile({ db, store, onProgress });
    await recordReconciliation(db, name, found);
    return found;
  } finally {
    await db.destroy();
    await store.close();
  }
};

/** One statement sums up a whole table. */
const STATEMENT_MS = 600_000;

interface How {
  readonly options: DatabaseOptions;
  readonly context: Context;
}

const tell = (name: string, found: Reconciled, { options, context: { terminal } }: How): void => {
  const { events, rows, differing, differences, cursor } = found;
  if (options.json === true) {
    terminal.json({ name, events, rows, differing, differences, cursor: cursorToken(cursor) });
    return;
  }
  terminal.print(
    `${name}: ${rows} rows against ${events} events: ${differing === 0 ? 'no difference' : `${differing} rows differ`}`,
  );
  for (const each of differences) terminal.print(`  ${lineOf(each)}`);
  if (differing > differences.length) terminal.print(`  and ${differing - differences.length} more`);
};

const lineOf = ({ table, row, kind, detail }: Difference): string => {
  if (kind === 'different') return `${table} ${row}: ${detail}`;
  return `${table} ${row}: ${kind === 'missing' ? 'is missing' : 'is there, and no event makes it'}`;
};

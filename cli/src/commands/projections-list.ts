import { type ProjectionStanding, projectionStandings } from '@fixpoint/event-store/projection-standing';
import { roleDatabase } from '@fixpoint/event-store/role-database';
import { EMBEDDED_ROLE } from '@fixpoint/event-store/roles';
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { namedProjections } from '../named-projections.ts';
import { table } from '../output/table.ts';
import { type DatabaseOptions, onDatabase, withDatabase } from '../store-database.ts';

/** `fixpoint projections list` */
export const addProjectionsList = (projections: Command, context: Context): void => {
  withDatabase(projections.command('list'))
    .description('say of each projection how far it is, who keeps it, and what its last comparison with the log found')
    .action(async (options: DatabaseOptions) => {
      const standings = await onDatabase(options, context, readStandings);
      if (options.json === true) for (const each of standings) context.terminal.json(each);
      else context.terminal.print(table(HEADER, standings.map(rowOf)));
      context.exitCode = EXIT.ok;
    });
};

const readStandings = async (url: string): Promise<readonly ProjectionStanding[]> => {
  const names = (await namedProjections([])).map(({ name }) => name);
  const db = roleDatabase({ url, role: EMBEDDED_ROLE, applicationName: 'fixpoint projections' }, 1);
  try {
    return await projectionStandings(db, names);
  } finally {
    await db.destroy();
  }
};

const HEADER = ['projection', 'events behind', 'since', 'kept by', 'compared with the log'];

const rowOf = (standing: ProjectionStanding): readonly string[] => {
  const { name, behind, behind_ms, kept_by, rebuilding, reconciled } = standing;
  const compared =
    reconciled === null
      ? 'never'
      : `${reconciled.finished_at}: ${reconciled.differing === 0 ? 'no difference' : `${reconciled.differing} rows differ`}`;
  return [
    ...[name, String(behind), behind === 0 ? '-' : `${(behind_ms / 1000).toFixed(1)} s`],
    ...[`${kept_by ?? 'nobody'}${rebuilding ? ', being rebuilt' : ''}`, compared],
  ];
};

import { migrateRoles } from '@fixpoint/event-store/migrate';
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { type DatabaseOptions, onDatabase, withDatabase } from '../store-database.ts';

interface MigrateOptions extends DatabaseOptions {
  readonly roles?: boolean;
}

/** `fixpoint store migrate` */
export const addStoreMigrate = (store: Command, context: Context): void => {
  withDatabase(store.command('migrate'))
    .description('bring a database to this release: roles, tables, who may append what; safe to repeat')
    .option('--roles', 'make the roles only, as a dump needs them that is restored on a new server')
    .action(async (options: MigrateOptions) => {
      const ran = await onDatabase(options, context, (url) => migrate(url, options.roles === true));
      if (options.json === true) context.terminal.json({ ran });
      else context.terminal.print(ran.length === 0 ? 'nothing to do' : ran.map((name) => `ran ${name}`).join('\n'));
      context.exitCode = EXIT.ok;
    });
};

const migrate = async (url: string, rolesOnly: boolean): Promise<readonly string[]> => {
  if (rolesOnly) {
    await migrateRoles(url);
    return [];
  }
  // The services take a second to load, and no other command needs them.
  const { migrateInstallation } = await import('@fixpoint/database/migrate-installation');
  return migrateInstallation(url);
};

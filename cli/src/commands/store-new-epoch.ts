import { cursorToken } from '@fixpoint/contracts/rest/cursor-token';
import { type NewEpoch, NewEpochRefused, newEpoch } from '@fixpoint/event-store/new-epoch';
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { EXIT, Exit } from '../exit-codes.ts';
import { namedProjections } from '../named-projections.ts';
import { table } from '../output/table.ts';
import { type DatabaseOptions, onDatabase, withDatabase } from '../store-database.ts';

interface NewEpochCommandOptions extends DatabaseOptions {
  readonly reason: string;
  readonly dryRun?: boolean;
  readonly onSameServer?: boolean;
}

/** `fixpoint store new-epoch` */
export const addStoreNewEpoch = (store: Command, context: Context): void => {
  withDatabase(store.command('new-epoch'))
    .description('make a restored or failed-over store usable where it is now; stop every process first')
    .option('--dry-run', 'say what would be done and change nothing')
    .option('--reason <text>', 'kept with the epoch', 'restored or failed over')
    .option('--on-same-server', 'also where system identifier and timeline fit, as after putting older files back')
    .action(async (options: NewEpochCommandOptions) => {
      const begun = await begin(options, context);
      const isDryRun = options.dryRun === true;
      const rebuild = await toRebuild(begun);
      if (options.json === true) context.terminal.json(recordOf(begun, { isDryRun, rebuild }));
      else context.terminal.print(textOf(begun, { isDryRun, rebuild }));
      context.exitCode = EXIT.ok;
    });
};

const begin = async (options: NewEpochCommandOptions, context: Context): Promise<NewEpoch> => {
  const { reason } = options;
  const flags = { dryRun: options.dryRun === true, onSameServer: options.onSameServer === true };
  try {
    return await onDatabase(options, context, (url) => newEpoch({ url, reason, ...flags }));
  } catch (error) {
    if (error instanceof NewEpochRefused) throw new Exit(EXIT.refused, error.message, HINTS[error.code]);
    throw error;
  }
};

const HINTS: Readonly<Record<NewEpochRefused['code'], string>> = {
  not_needed: 'nothing to do; --on-same-server if older files were put back under this server',
  in_use: 'stop every process of the installation first',
};

/** What is told beside what was done. */
interface Telling {
  readonly isDryRun: boolean;
  /** Readers whose tables know events that are gone. */
  readonly rebuild: readonly string[];
}

/** Of the readers that were ahead of the log, those that have tables; the others have nothing but their place. */
const toRebuild = async ({ readers }: NewEpoch): Promise<readonly string[]> => {
  const ahead = readers.filter(({ isAhead }) => isAhead).map(({ name }) => name);
  if (ahead.length === 0) return [];
  const projections = new Set((await namedProjections([])).map(({ name }) => name));
  return ahead.filter((name) => projections.has(name));
};

const recordOf = ({ epoch, before, newest, leases, readers }: NewEpoch, { isDryRun, rebuild }: Telling) => ({
  dry_run: isDryRun,
  epoch,
  before: {
    epoch: before.epoch.number,
    system_identifier: before.written.systemIdentifier,
    timeline: before.written.timeline,
    newest: cursorToken(newest),
  },
  system_identifier: before.found.systemIdentifier,
  timeline: before.found.timeline,
  leases: leases.map(({ table: name, dropped }) => ({ table: name, dropped })),
  readers: readers.map(({ name, from, to, isAhead }) => ({
    ...{ name, from: cursorToken(from), to: cursorToken(to), put_back: isAhead, rebuild: rebuild.includes(name) },
  })),
});

const textOf = ({ epoch, newest, leases, readers }: NewEpoch, { isDryRun, rebuild }: Telling): string => {
  const dropped = leases.reduce((sum, lease) => sum + lease.dropped, 0);
  const rows = readers.map(({ name, to, isAhead }) => [
    ...[name, cursorToken(to), isAhead ? 'was ahead of the log' : ''],
  ]);
  return [
    isDryRun
      ? `epoch ${epoch} would begin behind ${cursorToken(newest)}; nothing was changed`
      : `epoch ${epoch} has begun behind ${cursorToken(newest)}`,
    `${dropped} leases dropped`,
    ...(rows.length === 0 ? [] : ['', table(['reader', 'goes on at', ''], rows)]),
    ...rebuild.map((name) => `${name} knows events that are gone: run \`fixpoint projections rebuild ${name}\``),
  ].join('\n');
};

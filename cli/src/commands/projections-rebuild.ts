import { cursorToken } from '@fixpoint/contracts/rest/cursor-token';
import { ownerDatabase } from '@fixpoint/event-store/owner-database';
import { PostgresEventStore } from '@fixpoint/event-store/postgres-event-store';
import { RebuildElsewhere, type RebuildProgress } from '@fixpoint/event-store/rebuild-projection';
import { EMBEDDED_ROLE } from '@fixpoint/event-store/roles';
import type { InstalledProjection } from '@fixpoint/local/installed-projections';
import { systemIds } from '@fixpoint/runtime/system-ids';
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { EXIT, Exit } from '../exit-codes.ts';
import { namedProjections } from '../named-projections.ts';
import { everySecond } from '../output/every-second.ts';
import { type DatabaseOptions, onDatabase, withDatabase } from '../store-database.ts';

/** `fixpoint projections rebuild [NAME…]` */
export const addProjectionsRebuild = (projections: Command, context: Context): void => {
  withDatabase(projections.command('rebuild'))
    .description('build projections anew from the log, beside the live ones, and swap them in; nothing has to stop')
    .argument('[names...]', 'projections, as `list` names them (default: all)')
    .action(async (names: readonly string[], options: DatabaseOptions) => {
      for (const projection of await namedProjections(names)) await rebuild(projection, options, context);
      context.exitCode = EXIT.ok;
    });
};

const rebuild = async (projection: InstalledProjection, options: DatabaseOptions, context: Context): Promise<void> => {
  const { terminal } = context;
  const { name } = projection;
  const startedAt = performance.now();
  const { events, cursor } = await onDatabase(options, context, (url) =>
    rebuildOn(projection, url, (line) => terminal.note(`${name}: ${line}`)),
  ).catch((error: unknown) => {
    if (error instanceof RebuildElsewhere) throw new Exit(EXIT.refused, error.message, 'wait for it to end');
    throw error;
  });
  const seconds = (performance.now() - startedAt) / 1000;
  if (options.json === true) {
    terminal.json({ name, events, seconds: Number(seconds.toFixed(3)), cursor: cursorToken(cursor) });
  } else terminal.print(`${name}: rebuilt from ${events} events in ${seconds.toFixed(1)} s`);
};

const rebuildOn = async (projection: InstalledProjection, url: string, say: (line: string) => void) => {
  const store = new PostgresEventStore({ url, role: EMBEDDED_ROLE, applicationName: 'fixpoint projections' });
  try {
    const db = await ownerDatabase<unknown>(url, 3);
    try {
      return await projection.rebuild({
        db,
        store,
        owner: systemIds.uuid(),
        onProgress: everySecond<RebuildProgress>(({ events, share }) =>
          say(`${events} events, ${Math.floor(share * 100)} %`),
        ),
      });
    } finally {
      await db.destroy();
    }
  } finally {
    await store.close();
  }
};

import { cursorToken } from '@fixpoint/contracts/rest/cursor-token';
import type { Server } from '@fixpoint/event-store/server-identity';
import { type StoreStatus, storeStatus } from '@fixpoint/event-store/store-status';
import { holderText } from '@fixpoint/event-store/watermark';
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { table } from '../output/table.ts';
import { type DatabaseOptions, onDatabase, withDatabase } from '../store-database.ts';

/** `fixpoint store status` */
export const addStoreStatus = (store: Command, context: Context): void => {
  withDatabase(store.command('status'))
    .description('where the log lives, how far it and its readers are, and who holds readers back')
    .action(async (options: DatabaseOptions) => {
      const status = await onDatabase(options, context, storeStatus);
      if (options.json === true) context.terminal.json(recordOf(status));
      else context.terminal.print(textOf(status));
      context.exitCode = status.isAtHome ? EXIT.ok : EXIT.refused;
    });
};

const serverRecord = ({ systemIdentifier, timeline }: Server) => ({ system_identifier: systemIdentifier, timeline });

const recordOf = ({ identity, isAtHome, newest, watermark, readers, epochs, migrations }: StoreStatus) => ({
  usable: isAtHome,
  epoch: identity.epoch.number,
  written_on: serverRecord(identity.written),
  found_on: serverRecord(identity.found),
  newest: newest && {
    ...{ cursor: cursorToken(newest.cursor), type: newest.type, stream: newest.stream },
    recorded_at: newest.recordedAt,
  },
  watermark: { visible: cursorToken(watermark.visible), age_ms: watermark.ageMs, holder: watermark.holder },
  readers: readers.map(({ name, cursor, lagMs, isKept }) => ({
    ...{ name, cursor: cursorToken(cursor), lag_ms: lagMs, kept: isKept },
  })),
  epochs: epochs.map(({ epoch, beganAt, beganBy, reason, ...server }) => ({
    ...{ epoch, ...serverRecord(server), began_at: beganAt, began_by: beganBy, reason },
  })),
  migrations: Object.fromEntries(migrations.map(({ source, number }) => [source, number])),
});

const textOf = (status: StoreStatus): string => {
  const { identity, newest, watermark, readers } = status;
  const lines = [
    `epoch      ${identity.epoch.number}, ${serverText(identity.written)}`,
    ...(status.isAtHome ? [] : [`REFUSED    it is now on ${serverText(identity.found)}: \`fixpoint store new-epoch\``]),
    `newest     ${newest === null ? 'no event yet' : `${cursorToken(newest.cursor)} ${newest.type}, ${newest.recordedAt}`}`,
    `watermark  ${watermarkText(status)}`,
    `held by    ${watermark.holder === null ? 'nobody' : holderText(watermark.holder)}`,
  ];
  const rows = readers.map(({ name, cursor, lagMs, isKept }) => [
    ...[name, cursorToken(cursor), secondsText(lagMs), isKept ? 'yes' : 'no'],
  ]);
  return rows.length === 0
    ? lines.join('\n')
    : [...lines, '', table(['reader', 'at', 'behind', 'running'], rows)].join('\n');
};

const serverText = ({ systemIdentifier, timeline }: Server): string =>
  `server ${systemIdentifier}, timeline ${timeline}`;

const watermarkText = ({ watermark: { visible, ageMs } }: StoreStatus): string =>
  ageMs === 0 ? 'everything stored is visible' : `${cursorToken(visible)}, hides events for ${secondsText(ageMs)}`;

const secondsText = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

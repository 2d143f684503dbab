import type { Client } from '@fixpoint/client/client';
import type { LineageDetail, Run } from '@fixpoint/contracts/rest/audit';
import type { Command } from 'commander';
import { type ConnectionOptions, connectionOf, withConnection } from '../connection.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { lineageTree } from '../output/lineage-tree.ts';
import { allOf, everyItem, PAGE } from '../pages.ts';

/** A lineage with its tasks and all their runs. */
export const readTree = async (
  client: Client,
  lineage: string,
): Promise<{ readonly lineage: LineageDetail; readonly runs: readonly Run[] }> => {
  const detail = await client.lineage(lineage);
  return { lineage: detail, runs: await runsOf(client, lineage) };
};

/** Every run of a lineage. */
export const runsOf = (client: Client, lineage: string): Promise<Run[]> =>
  allOf(everyItem((cursor) => client.runs({ lineage, limit: PAGE, ...cursor })));

/** `fixpoint tree LINEAGE` */
export const addTree = (program: Command, context: Context): void => {
  withConnection(program.command('tree'))
    .description('show the tasks of a lineage, their runs, and the fixes below them')
    .argument('<lineage>', 'id of a lineage')
    .action(async (lineage: string, options: ConnectionOptions) => {
      const tree = await readTree(await connectionOf(options, context), lineage);
      if (options.json === true) context.terminal.json(tree);
      else context.terminal.print(lineageTree(tree.lineage, tree.runs));
      context.exitCode = EXIT.ok;
    });
};

import type { Command } from 'commander';
import { type ConnectionOptions, connectionOf, withConnection } from '../connection.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../exit-codes.ts';

interface CancelOptions extends ConnectionOptions {
  readonly task: string;
  readonly reason: string;
}

export const addCancel = (root: Command, context: Context): void => {
  withConnection(root.command('cancel'))
    .description('end a lineage, or one of its children, with all that is below it')
    .argument('<lineage>', 'id of a lineage')
    .option('--task <address>', 'only this child, such as 0.2', '0')
    .option('--reason <text>', 'why, for the log', '')
    .action(async (lineage: string, { task, reason, ...options }: CancelOptions) => {
      const cancelled = await (await connectionOf(options, context)).cancel(lineage, { task, reason });
      if (options.json === true) context.terminal.json(cancelled);
      else context.terminal.print(`${lineage} ${task}: cancelled${cancelled.changed ? '' : ' before'}`);
      context.exitCode = EXIT.ok;
    });
};

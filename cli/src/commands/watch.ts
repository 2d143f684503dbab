import type { Client } from '@fixpoint/client/client';
import type { Ended } from '@fixpoint/client/wait-for-end';
import type { Command } from 'commander';
import { type ConnectionOptions, connectionOf, withConnection } from '../connection.ts';
import type { Context } from '../context.ts';
import { statusOf } from '../output/lineage-tree.ts';
import { progressLine } from '../output/progress-line.ts';
import { reasonsOfEvent } from '../output/reasons.ts';
import { secondsToWait } from '../seconds.ts';
import { codeOfEnd, watchLineage } from '../watch-lineage.ts';

interface WatchOptions extends ConnectionOptions {
  readonly timeout?: number;
}

/** `fixpoint watch LINEAGE` */
export const addWatch = (program: Command, context: Context): void => {
  withConnection(program.command('watch'))
    .description(
      'follow a lineage until it ends: node, rung, attempt, and when it waits, for what and until when; of what fails, why',
    )
    .argument('<lineage>', 'id of a lineage')
    .option('--timeout <seconds>', 'stop waiting after so long', secondsToWait)
    .action(async (lineage: string, options: WatchOptions) => {
      const client = await connectionOf(options, context);
      await client.lineage(lineage);
      context.exitCode = await showLineage(client, lineage, { context, ...options });
    });
};

interface ShowOptions extends WatchOptions {
  readonly context: Context;
}

/** Shows what happens in a lineage and how it ended. @returns the exit code of its end */
export const showLineage = async (client: Client, lineage: string, options: ShowOptions): Promise<number> => {
  const { terminal } = options.context;
  const end = await watchLineage(client, lineage, {
    timeoutMs: options.timeout ?? secondsToWait(),
    signal: terminal.gone,
    onEvent: (event) => {
      if (options.json === true) return terminal.json(event);
      const line = progressLine(event);
      if (line === null) return;
      terminal.print(`${event.occurred_at.slice(11, 19)}  ${line}`);
      for (const reason of reasonsOfEvent(event)) terminal.print(`${REASON_INDENT}${reason}`);
    },
  });
  if (options.json !== true) terminal.print(endLine(lineage, end));
  return codeOfEnd(end);
};

/** As wide as the time before what happened, and two more. */
const REASON_INDENT = ' '.repeat(12);

/** How a wait for a lineage came out, as a sentence. */
export const endLine = (id: string, { ended, lineage }: Ended): string => {
  if (lineage === null) return `lineage ${id} was not seen`;
  return `${lineage.name} ${id}: ${ended ? statusOf(lineage) : 'not over yet'}, ${lineage.events} events`;
};

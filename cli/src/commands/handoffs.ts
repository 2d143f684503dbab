import type { Client } from '@fixpoint/client/client';
import { helpSchema } from '@fixpoint/contracts/events/handoff-events';
import { type Handoff, handoffStatusSchema } from '@fixpoint/contracts/rest/audit-handoffs';
import type { HandoffsQuery } from '@fixpoint/contracts/rest/audit-queries';
import { type Command, Option } from 'commander';
import { type ConnectionOptions, connectionOf, withConnection } from '../connection.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { handoffTable, handoffText } from '../output/handoff-text.ts';
import { allOf, everyItem, PAGE } from '../pages.ts';
import { secondsToWait } from '../seconds.ts';

interface ListOptions extends ConnectionOptions {
  readonly status: string;
  readonly lineage?: string;
  readonly project?: string;
  readonly needs?: NonNullable<HandoffsQuery['help']>;
  readonly claimed?: boolean;
}

/** `fixpoint handoffs [list] | show | claim` */
export const addHandoffs = (program: Command, context: Context): void => {
  const handoffs = program
    .command('handoffs')
    .description('what humans are asked for; without more: list (each takes --json)');
  addList(handoffs, context);
  withConnection(handoffs.command('show'))
    .description('show what is asked, what was tried, what stands against it and what may be decided')
    .argument('<handoff>', 'id of a handoff')
    .action(async (handoff: string, options: ConnectionOptions) => {
      const detail = await (await connectionOf(options, context)).handoff(handoff);
      if (options.json === true) context.terminal.json(detail);
      else context.terminal.print(handoffText(detail));
      context.exitCode = EXIT.ok;
    });
  addClaim(handoffs, context);
};

const addList = (handoffs: Command, context: Context): void => {
  withConnection(handoffs.command('list', { isDefault: true }))
    .description('list handoffs, newest first')
    .addOption(
      new Option('--status <status>', 'only these').choices([...handoffStatusSchema.options, 'all']).default('open'),
    )
    .option('--lineage <lineage>', 'only those of this lineage')
    .option('--project <project>', 'only those of this project')
    .addOption(new Option('--needs <help>', 'only those that need this help').choices(helpSchema.options))
    .option('--claimed', 'only those that somebody looks after')
    .option('--no-claimed', 'only those that nobody looks after')
    .action(async (options: ListOptions) => {
      const found = await handoffsOf(await connectionOf(options, context), options);
      if (options.json === true) for (const each of found) context.terminal.json(each);
      else context.terminal.print(found.length === 0 ? 'no handoffs' : handoffTable(found));
      context.exitCode = EXIT.ok;
    });
};

const handoffsOf = (client: Client, options: ListOptions): Promise<Handoff[]> => {
  const { status, lineage, project, needs: help, claimed } = options;
  const query = {
    status: status === 'all' ? undefined : handoffStatusSchema.parse(status),
    claimed: claimed === undefined ? undefined : (`${claimed}` as const),
    ...{ lineage, project, help, limit: PAGE },
  };
  return allOf(everyItem((cursor) => client.handoffs({ ...query, ...cursor })));
};

interface ClaimOptions extends ConnectionOptions {
  readonly seen?: string;
  readonly for: number;
}

const HOUR_MS = 3_600_000;

const addClaim = (handoffs: Command, context: Context): void => {
  withConnection(handoffs.command('claim'))
    .description('look after a handoff: nobody else decides it for a while, and it does not end before')
    .argument('<handoff>', 'id of a handoff')
    .addOption(new Option('--for <seconds>', 'how long').argParser(secondsToWait).default(HOUR_MS, 'an hour, 3600'))
    .option('--seen <version>', 'version of the handoff that was looked at; the newest by default')
    .action(async (handoff: string, options: ClaimOptions) => {
      const client = await connectionOf(options, context);
      const version = options.seen === undefined ? (await client.handoff(handoff)).version : Number(options.seen);
      const claimed = await client.claimHandoff(handoff, { version, for_ms: options.for });
      if (options.json === true) context.terminal.json(claimed);
      else context.terminal.print(`${handoff}: ${claimed.by} looks after it until ${claimed.until}`);
      context.exitCode = EXIT.ok;
    });
};

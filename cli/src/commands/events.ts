import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import { definitionOf } from '@fixpoint/contracts/events/catalogue';
import type { Command } from 'commander';
import { type ConnectionOptions, connectionOf, withConnection } from '../connection.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { progressLine } from '../output/progress-line.ts';
import { everyItem, PAGE } from '../pages.ts';

interface EventsOptions extends ConnectionOptions {
  readonly type?: string;
}

/** `fixpoint events LINEAGE` */
export const addEvents = (program: Command, context: Context): void => {
  withConnection(program.command('events'))
    .description('list the events of a lineage in the order of the store')
    .argument('<lineage>', 'id of a lineage')
    .option('--type <type>', 'only events of this type, such as node_ready')
    .action(async (lineage: string, options: EventsOptions) => {
      await listEvents(lineage, options, context);
      context.exitCode = EXIT.ok;
    });
};

const listEvents = async (lineage: string, options: EventsOptions, context: Context): Promise<void> => {
  const { terminal } = context;
  const client = await connectionOf(options, context);
  // An unknown lineage has no events; whoever mistyped its id should be told so.
  await client.lineage(lineage);
  // Only a note: an installation of a later release may know it.
  if (options.type !== undefined && definitionOf(options.type) === undefined) {
    terminal.note(`fixpoint: this build knows no event type ${options.type}`);
  }
  const type = options.type === undefined ? {} : { type: options.type };
  for await (const event of everyItem((cursor) => client.events({ lineage, limit: PAGE, ...type, ...cursor }))) {
    if (terminal.gone.aborted) return;
    if (options.json === true) terminal.json(event);
    else terminal.print(eventLine(event));
  }
};

const eventLine = (event: RecordedEvent): string =>
  `${event.occurred_at}  ${event.stream}@${event.version}  ${event.type}  ${progressLine(event) ?? ''}`.trimEnd();

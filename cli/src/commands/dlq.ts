import type { Client } from '@fixpoint/client/client';
import {
  type DeadLetterDetail,
  type DeadLetterRow,
  deadLetterStatusSchema,
  type HandledDeadLetter,
} from '@fixpoint/contracts/rest/dead-letters';
import { type Command, Option } from 'commander';
import { type ConnectionOptions, connectionOf, withConnection } from '../connection.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { failureOf } from '../failure.ts';
import { oneLine } from '../output/printable.ts';
import { table } from '../output/table.ts';
import { allOf, everyItem, PAGE } from '../pages.ts';

interface ListOptions extends ConnectionOptions {
  readonly status: string;
  readonly lineage?: string;
  readonly reader?: string;
}

/** `fixpoint dlq list | show | replay | discard` */
export const addDlq = (program: Command, context: Context): void => {
  const dlq = program.command('dlq').description('dead letters: events that a reader gave up (each takes --json)');
  addList(dlq, context);
  addShow(dlq, context);
  withConnection(dlq.command('replay'))
    .description('offer the event to its reader once more; one failure parks it again')
    .argument('<letter...>', 'ids of dead letters')
    .option('--again', 'also when it was replayed before and has not come back: the offer may have been lost')
    .action(async (letters: string[], options: ConnectionOptions & { readonly again?: boolean }) => {
      const order = { again: options.again === true };
      await handleEach({ letters, options, context }, (client, letter) => client.replayDeadLetter(letter, order));
    });
  withConnection(dlq.command('discard'))
    .description('have its reader go on without the event, for good')
    .argument('<letter...>', 'ids of dead letters')
    .option('--reason <text>', 'why; kept with who did it')
    .action(async (letters: string[], options: ConnectionOptions & { readonly reason?: string }) => {
      const order = { reason: options.reason ?? '' };
      await handleEach({ letters, options, context }, (client, letter) => client.discardDeadLetter(letter, order));
    });
};

const addList = (dlq: Command, context: Context): void => {
  withConnection(dlq.command('list'))
    .description('list dead letters, newest first')
    .addOption(
      new Option('--status <status>', 'only these')
        .choices([...deadLetterStatusSchema.options, 'all'])
        .default('parked'),
    )
    .option('--lineage <lineage>', 'only those about this lineage')
    .option('--reader <reader>', 'only those of this reader, such as validator__gate')
    .action(async (options: ListOptions) => {
      const letters = await lettersOf(await connectionOf(options, context), options);
      if (options.json === true) for (const letter of letters) context.terminal.json(letter);
      else context.terminal.print(letters.length === 0 ? 'no dead letters' : letterTable(letters));
      context.exitCode = EXIT.ok;
    });
};

const lettersOf = (client: Client, { status, lineage, reader }: ListOptions): Promise<DeadLetterRow[]> => {
  const query = {
    status: status === 'all' ? undefined : deadLetterStatusSchema.parse(status),
    ...{ lineage, reader, limit: PAGE },
  };
  return allOf(everyItem((cursor) => client.deadLetters({ ...query, ...cursor })));
};

const REASON = 60;

const letterTable = (letters: readonly DeadLetterRow[]): string =>
  table(
    ['letter', 'status', 'parked', 'reader', 'event', 'lineage', 'tries', 'reason'],
    letters.map((each) => [
      ...[each.letter, each.status, each.parked_at, each.reader, each.event_type, each.lineage ?? '-'],
      ...[String(each.deliveries), oneLine(each.reason, REASON)],
    ]),
  );

const addShow = (dlq: Command, context: Context): void => {
  withConnection(dlq.command('show'))
    .description('show a dead letter with its event and what was done about it')
    .argument('<letter>', 'id of a dead letter')
    .action(async (letter: string, options: ConnectionOptions) => {
      const detail = await (await connectionOf(options, context)).deadLetter(letter);
      if (options.json === true) context.terminal.json(detail);
      else context.terminal.print(letterText(detail));
      context.exitCode = EXIT.ok;
    });
};

const letterText = (detail: DeadLetterDetail): string => {
  const { event } = detail;
  const about = detail.lineage === null ? 'no lineage' : `lineage ${detail.lineage}`;
  const run = detail.run === null ? '' : `, task ${detail.task}, run ${detail.run}`;
  return [
    `${detail.letter}  ${detail.status}`,
    `${detail.reader} gave up ${detail.event_type} v${detail.event_version}, event ${detail.event_id}`,
    `${about}${run}`,
    `${detail.deliveries} failed deliveries, ${detail.replays} replays`,
    `reason: ${detail.reason}`,
    ...detail.history.map((step) => `${step.occurred_at}  ${step.type}  by ${step.metadata.actor}`),
    event === null
      ? 'the event is not in the store'
      : `${event.stream}@${event.version}: ${JSON.stringify(event.data)}`,
  ].join('\n');
};

interface Orders {
  readonly letters: readonly string[];
  readonly options: ConnectionOptions;
  readonly context: Context;
}

/** One that is refused stops no other; the first code that is not 0 counts. */
const handleEach = async (
  { letters, options, context }: Orders,
  handle: (client: Client, letter: string) => Promise<HandledDeadLetter>,
): Promise<void> => {
  const client = await connectionOf(options, context);
  context.exitCode = EXIT.ok;
  for (const letter of letters) {
    try {
      const handled = await handle(client, letter);
      if (options.json === true) context.terminal.json(handled);
      else context.terminal.print(handledLine(handled));
    } catch (error) {
      const { code, text } = failureOf(error);
      context.terminal.note(`fixpoint: ${letter}: ${text}`);
      if (context.exitCode === EXIT.ok) context.exitCode = code;
    }
  }
};

const handledLine = ({ letter, status, changed }: HandledDeadLetter): string => {
  if (changed) return `${letter}: ${status}`;
  return status === 'replayed'
    ? `${letter}: replayed before, and it has not come back; --again offers it once more`
    : `${letter}: ${status} before`;
};

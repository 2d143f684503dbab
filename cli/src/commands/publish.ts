import type { PublishedProtocol } from '@fixpoint/contracts/rest/protocols';
import type { Command } from 'commander';
import { type ConnectionOptions, connectionOf, withConnection } from '../connection.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { diagnosticText } from '../failure.ts';
import { readDocument } from '../read-document.ts';

/** `fixpoint publish FILE` */
export const addPublish = (program: Command, context: Context): void => {
  withConnection(program.command('publish'))
    .description('publish a protocol; tasks submitted from now on run under it')
    .argument('<file>', 'a protocol/v1 document; - reads standard input')
    .action((file: string, options: ConnectionOptions) => publishDocument(file, options, context));
};

export const publishDocument = async (file: string, options: ConnectionOptions, context: Context): Promise<void> => {
  const { text } = await readDocument(file, context);
  const published = await (await connectionOf(options, context)).publishProtocol(text);
  for (const each of published.diagnostics) context.terminal.note(diagnosticText(file, each));
  if (options.json === true) context.terminal.json(published);
  else context.terminal.print(publishedLine(published));
  context.exitCode = EXIT.ok;
};

/** What publishing came to, as a sentence. */
export const publishedLine = ({ created, project, name, version }: PublishedProtocol): string =>
  created
    ? `published ${name}@${version} of project ${project}`
    : `${name}@${version} of project ${project} says the same already`;

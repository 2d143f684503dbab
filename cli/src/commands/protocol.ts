import type { ProtocolDiff, ProtocolVersionRow } from '@fixpoint/contracts/rest/protocols';
import { type Command, InvalidArgumentError } from 'commander';
import { type ConnectionOptions, connectionOf, withConnection } from '../connection.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { oneLine } from '../output/printable.ts';
import { table } from '../output/table.ts';
import { publishDocument } from './publish.ts';

/** `fixpoint protocol list | show | publish | withdraw | diff` */
export const addProtocol = (program: Command, context: Context): void => {
  const protocol = program.command('protocol').description('versions of a project’s protocol (each takes --json)');
  addList(protocol, context);
  addShow(protocol, context);
  withConnection(protocol.command('publish'))
    .description('publish a protocol; tasks submitted from now on run under it')
    .argument('<file>', 'a protocol/v1 document; - reads standard input')
    .action((file: string, options: ConnectionOptions) => publishDocument(file, options, context));
  addWithdraw(protocol, context);
  addDiff(protocol, context);
};

const PROJECT = ['<project>', 'the project that published it'] as const;

const versionNumber = (text: string): number => {
  if (!/^[1-9][0-9]{0,8}$/.test(text)) throw new InvalidArgumentError('a version is a whole number from 1');
  return Number(text);
};

const addList = (protocol: Command, context: Context): void => {
  withConnection(protocol.command('list'))
    .description('list the versions, the first one first')
    .argument(...PROJECT)
    .action(async (project: string, options: ConnectionOptions) => {
      const { versions } = await (await connectionOf(options, context)).protocols(project);
      if (options.json === true) for (const version of versions) context.terminal.json(version);
      else context.terminal.print(versions.length === 0 ? 'none: the project runs under default@1' : rows(versions));
      context.exitCode = EXIT.ok;
    });
};

const REASON = 60;

const rows = (versions: readonly ProtocolVersionRow[]): string =>
  table(
    ['version', 'name', 'published', 'hash', 'withdrawn'],
    versions.map(({ version, name, published_at, hash, withdrawn }) => [
      ...[String(version), name, published_at, hash.slice(0, 12)],
      withdrawn === null ? '-' : oneLine(withdrawn.reason, REASON),
    ]),
  );

const addShow = (protocol: Command, context: Context): void => {
  withConnection(protocol.command('show'))
    .description('show a version with everything that it says, defaults filled in')
    .argument(...PROJECT)
    .argument('<version>', 'its number', versionNumber)
    .action(async (project: string, version: number, options: ConnectionOptions) => {
      const detail = await (await connectionOf(options, context)).protocol(project, version);
      if (options.json === true) context.terminal.json(detail);
      else context.terminal.print(`${rows([detail])}\n${JSON.stringify(detail.spec, null, 2)}`);
      context.exitCode = EXIT.ok;
    });
};

const addWithdraw = (protocol: Command, context: Context): void => {
  withConnection(protocol.command('withdraw'))
    .description('take a version out of use: what runs under it starts nothing new and asks a human')
    .argument(...PROJECT)
    .argument('<version>', 'its number', versionNumber)
    .requiredOption('--reason <text>', 'why; told to everybody who is asked')
    .action(async (project: string, version: number, options: ConnectionOptions & { readonly reason: string }) => {
      const withdrawn = await (await connectionOf(options, context)).withdrawProtocol(project, version, options.reason);
      const said = `${withdrawn.name}@${version} of project ${project}`;
      if (options.json === true) context.terminal.json(withdrawn);
      else context.terminal.print(withdrawn.changed ? `withdrew ${said}` : `${said} was withdrawn before`);
      context.exitCode = EXIT.ok;
    });
};

const addDiff = (protocol: Command, context: Context): void => {
  withConnection(protocol.command('diff'))
    .description('what one version says differently from another, field by field')
    .argument(...PROJECT)
    .argument('<from>', 'number of a version', versionNumber)
    .argument('<to>', 'number of another', versionNumber)
    .action(async (...[project, from, to, options]: [string, number, number, ConnectionOptions]) => {
      const diff = await (await connectionOf(options, context)).protocolDiff(project, { from, to });
      if (options.json === true) context.terminal.json(diff);
      else context.terminal.print(diffText(diff));
      context.exitCode = EXIT.ok;
    });
};

const diffText = ({ from, to, changes }: ProtocolDiff): string =>
  changes.length === 0
    ? `versions ${from} and ${to} say the same`
    : changes
        .map((change) => `${change.path}\n  - ${JSON.stringify(change.from)}\n  + ${JSON.stringify(change.to)}`)
        .join('\n');

import { ApiError } from '@fixpoint/client/api-error';
import type { Client } from '@fixpoint/client/client';
import type { Submitted } from '@fixpoint/contracts/rest/tasks';
import { withAbsoluteGitUrl } from '@fixpoint/documents/absolute-git-url';
import type { Command } from 'commander';
import { type ConnectionOptions, connectionOf, withConnection } from '../connection.ts';
import type { Context } from '../context.ts';
import { EXIT, Exit } from '../exit-codes.ts';
import { codeOfStatus, diagnosticText } from '../failure.ts';
import { type FileText, readDocument } from '../read-document.ts';
import { secondsToWait } from '../seconds.ts';
import { codeOfEnd } from '../watch-lineage.ts';
import { publishedLine } from './publish.ts';
import { endLine, showLineage } from './watch.ts';

interface SubmitOptions extends ConnectionOptions {
  readonly key?: string;
  readonly protocol?: string;
  readonly wait?: boolean;
  readonly watch?: boolean;
  readonly timeout?: number;
}

/** `fixpoint submit FILE…` */
export const addSubmit = (program: Command, context: Context): void => {
  withConnection(program.command('submit'))
    .description('submit task documents; a relative path of a repository is taken from the folder of its document')
    .argument('<files...>', 'task/v1 documents; - reads standard input')
    .option('--key <key>', 'idempotency key: the same key and document is the same lineage, however often it is sent')
    .option('--protocol <file>', 'publish this protocol first')
    .option('--wait', 'wait until each has ended')
    .option('--watch', 'show what happens until each has ended')
    .option('--timeout <seconds>', 'stop waiting after so long', secondsToWait)
    .action(async (files: readonly string[], options: SubmitOptions) => {
      context.exitCode = await submit(files, options, context);
    });
};

const submit = async (files: readonly string[], options: SubmitOptions, context: Context): Promise<number> => {
  if (options.key !== undefined && files.length > 1) {
    throw new Exit(EXIT.badInput, 'one key can not be the key of several documents', 'submit them one by one');
  }
  // All are read before any is sent: a mistyped name changes nothing.
  const documents = await Promise.all(files.map((file) => readDocument(file, context)));
  const protocol = options.protocol === undefined ? null : await readDocument(options.protocol, context);
  const client = await connectionOf(options, context);
  if (protocol !== null) await publish(client, protocol, context);
  const outcomes: Outcome[] = [];
  for (const document of documents) outcomes.push(await submitOne(client, document, { options, context }));
  const isFollowed = options.wait === true || options.watch === true;
  const codes = isFollowed ? await followAll(client, outcomes, { options, context }) : outcomes.map(({ code }) => code);
  return codes.find((code) => code !== EXIT.ok) ?? EXIT.ok;
};

const followAll = async (client: Client, outcomes: readonly Outcome[], how: How): Promise<number[]> => {
  const codes: number[] = [];
  for (const { lineage, code } of outcomes) codes.push(lineage === null ? code : await follow(client, lineage, how));
  return codes;
};

const publish = async (client: Client, { text, file }: FileText, { terminal }: Context): Promise<void> => {
  const published = await client.publishProtocol(text);
  for (const each of published.diagnostics) terminal.note(diagnosticText(file, each));
  terminal.note(publishedLine(published));
};

interface Outcome {
  readonly code: number;
  /** Null when it was refused. */
  readonly lineage: string | null;
}

interface How {
  readonly options: SubmitOptions;
  readonly context: Context;
}

const submitOne = async (client: Client, document: FileText, how: How): Promise<Outcome> => {
  const { file, text, folder } = document;
  try {
    const task = { document: withAbsoluteGitUrl(text, folder), idempotency_key: how.options.key ?? null };
    const submitted = await client.submit(task);
    tellSubmitted(file, submitted, how);
    return { code: EXIT.ok, lineage: submitted.lineage };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status === 401 || error.status === 403) throw error;
    tellRefused(file, error, how);
    return { code: codeOfStatus(error.status), lineage: null };
  }
};

const tellSubmitted = (file: string, submitted: Submitted, { options, context: { terminal } }: How): void => {
  for (const each of submitted.diagnostics) terminal.note(diagnosticText(file, each));
  if (options.json === true) terminal.json({ file, ...submitted });
  else terminal.print(`${submitted.lineage}  ${file}${submitted.created ? '' : ' (submitted before)'}`);
};

const tellRefused = (file: string, error: ApiError, { options, context: { terminal } }: How): void => {
  const { code, detail, diagnostics } = error;
  if (options.json === true) terminal.json({ file, error: { code, detail, diagnostics } });
  terminal.note(`${file}: ${detail} (${code})`);
  for (const each of diagnostics) terminal.note(diagnosticText(file, each));
};

const follow = async (client: Client, lineage: string, { options, context }: How): Promise<number> => {
  if (options.watch === true) return showLineage(client, lineage, { context, ...options });
  const end = await client.waitForEnd(lineage, options.timeout ?? secondsToWait());
  if (options.json === true) context.terminal.json(end.lineage);
  else context.terminal.print(endLine(lineage, end));
  return codeOfEnd(end);
};

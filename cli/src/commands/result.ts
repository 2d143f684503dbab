import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ApiError } from '@fixpoint/client/api-error';
import type { Client } from '@fixpoint/client/client';
import type { RecordedEvent } from '@fixpoint/contracts/envelope';
import type { EventNamed } from '@fixpoint/contracts/events/catalogue';
import { readEvent } from '@fixpoint/contracts/events/parse-event';
import type { LineageDetail } from '@fixpoint/contracts/rest/audit';
import type { WorkspaceRef } from '@fixpoint/contracts/workspace';
import type { Artifacts } from '@fixpoint/event-store/artifacts';
import { gitWorkspaces } from '@fixpoint/execution/git-workspaces';
import { WorkspaceFault } from '@fixpoint/execution/workspace-fault';
import type { Command } from 'commander';
import { type ConnectionOptions, connectionOf, withConnection } from '../connection.ts';
import type { Context } from '../context.ts';
import { EXIT, Exit } from '../exit-codes.ts';
import { type Halt, haltReport } from '../output/halt-report.ts';
import { statusOf } from '../output/lineage-tree.ts';
import type { Terminal } from '../output/terminal.ts';
import { allOf, everyItem, PAGE } from '../pages.ts';
import { codeOfStatus } from '../watch-lineage.ts';
import { runsOf } from './tree.ts';

interface ResultOptions extends ConnectionOptions {
  readonly to?: string;
}

/** `fixpoint result LINEAGE` */
export const addResult = (program: Command, context: Context): void => {
  withConnection(program.command('result'))
    .description('print the output of a lineage, or why there is none, and write its workspace out as a git repository')
    .argument('<lineage>', 'id of a lineage')
    .option('--to <dir>', 'write the workspace to this folder, which is empty or does not exist')
    .action(async (lineage: string, options: ResultOptions) => {
      context.exitCode = await showResult(lineage, options, context);
    });
};

const showResult = async (id: string, options: ResultOptions, context: Context): Promise<number> => {
  const client = await connectionOf(options, context);
  const lineage = await client.lineage(id);
  const code = codeOfStatus(lineage.status);
  if (lineage.status === 'running')
    throw new Exit(code, `${lineage.name} ${id} has not ended yet`, 'wait with `fixpoint watch`');
  const result = await resultOf(client, lineage);
  const written = options.to === undefined ? null : resolve(context.cwd, options.to);
  if (written !== null) await writeOut(result.workspace, { folder: written, client, context });
  if (options.json === true) context.terminal.json(recordOf(lineage, result, written));
  else await print(lineage, result, { written, client, terminal: context.terminal });
  return code;
};

type Delivered = Pick<EventNamed<'result_delivered'>['data'], 'url' | 'branch' | 'commit'>;

interface Result {
  readonly output: unknown;
  /** Artifact with the output, where it was too large for an event. */
  readonly outputArtifact: string | null;
  readonly workspace: WorkspaceRef | null;
  /** The branch that it was pushed to; null when it was not. */
  readonly delivered: Delivered | null;
  /** Null when the lineage completed. */
  readonly halt: Halt | null;
}

const NOTHING: Result = { output: null, outputArtifact: null, workspace: null, delivered: null, halt: null };

/**
 * What a lineage left: of one with a human, the work so far and the slice that is stuck, wherever in the tree it is; of a
 * blocked, cancelled or abandoned one nothing, since nobody may use it.
 */
const resultOf = async (client: Client, { lineage, status }: LineageDetail): Promise<Result> => {
  if (status === 'cancelled' || status === 'abandoned') return NOTHING;
  const type = END_EVENTS[status];
  const task = status === 'human' ? undefined : lineage;
  const pages = everyItem((cursor) => client.events({ lineage, task, type, limit: PAGE, ...cursor }));
  const last = (await allOf(pages)).at(-1);
  const result = last === undefined ? NOTHING : resultFrom(last, type);
  return type === 'task_completed' ? { ...result, delivered: await deliveredOf(client, lineage) } : result;
};

const deliveredOf = async (client: Client, lineage: string): Promise<Delivered | null> => {
  const type = 'result_delivered';
  const pages = everyItem((cursor) => client.events({ lineage, task: lineage, type, limit: PAGE, ...cursor }));
  const last = (await allOf(pages)).at(-1);
  if (last === undefined) return null;
  const { url, branch, commit } = readEvent(last, type);
  return { url, branch, commit };
};

const END_EVENTS = {
  running: 'task_completed',
  completed: 'task_completed',
  degraded: 'task_completed',
  blocked: 'task_blocked',
  human: 'human_required',
} as const;

const resultFrom = (last: RecordedEvent, type: (typeof END_EVENTS)[keyof typeof END_EVENTS]): Result => {
  if (type === 'human_required') {
    const { workspace_ref: workspace, ...halt } = readEvent(last, type);
    return { ...NOTHING, workspace, halt };
  }
  if (type === 'task_blocked') {
    const { task, run, detail, verdicts } = readEvent(last, type);
    // Where there are verdicts, the detail is made of them.
    return {
      ...NOTHING,
      halt: { slice: { task, node_id: null, run }, detail: verdicts.length > 0 ? '' : detail, verdicts },
    };
  }
  const { output, output_artifact: outputArtifact, workspace_ref: workspace } = readEvent(last, type);
  return { ...NOTHING, output, outputArtifact, workspace };
};

interface Destination {
  readonly folder: string;
  readonly client: Client;
  readonly context: Context;
}

const writeOut = async (workspace: WorkspaceRef | null, { folder, client, context }: Destination): Promise<void> => {
  if (workspace === null) throw new Exit(EXIT.failed, 'the lineage left no workspace that could be written out');
  const root = await mkdtemp(join(tmpdir(), 'fixpoint-result-'));
  try {
    const path = context.env.PATH ?? '/usr/local/bin:/usr/bin:/bin';
    await gitWorkspaces({ root, artifacts: artifactsOf(client), path }).export(workspace, folder);
  } catch (error) {
    if (error instanceof WorkspaceFault && error.code === 'folder_not_empty') {
      throw new Exit(EXIT.badInput, `${folder} is not empty`, 'name a folder that does not exist');
    }
    throw error;
  } finally {
    await rm(root, { recursive: true, force: true });
  }
};

/** The installation's artifacts, read through its API. */
const artifactsOf = (client: Client): Artifacts => ({
  put: () => Promise.reject(new Error('results are only read')),
  get: async (hash) => {
    try {
      return await client.artifact(hash);
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return null;
      throw error;
    }
  },
});

const recordOf = (lineage: LineageDetail, result: Result, written: string | null) => ({
  lineage: lineage.lineage,
  status: lineage.status,
  raw_halt_type: lineage.raw_halt_type,
  output: result.output,
  output_artifact: result.outputArtifact,
  workspace_ref: result.workspace,
  delivered: result.delivered,
  written_to: written,
});

interface PrintOptions {
  readonly written: string | null;
  readonly client: Client;
  readonly terminal: Terminal;
}

const print = async (
  lineage: LineageDetail,
  result: Result,
  { written, client, terminal }: PrintOptions,
): Promise<void> => {
  terminal.note(`${lineage.name} ${lineage.lineage}: ${statusOf(lineage)}`);
  if (result.halt !== null) terminal.note(haltReport(lineage, result.halt, await runsOf(client, lineage.lineage)));
  if (result.delivered !== null) terminal.note(deliveredLine(result.delivered));
  if (written !== null) terminal.note(`workspace ${result.workspace?.commit} written to ${written}`);
  if (result.outputArtifact !== null) return printArtifact(await client.artifact(result.outputArtifact), terminal);
  const { output } = result;
  if (output !== null && output !== '')
    terminal.print(typeof output === 'string' ? output.trimEnd() : JSON.stringify(output, null, 2));
};

const deliveredLine = ({ url, branch, commit }: Delivered): string => `delivered: ${commit} is on ${branch} of ${url}`;

const printArtifact = async (bytes: AsyncIterable<Uint8Array>, terminal: Terminal): Promise<void> => {
  const decoder = new TextDecoder();
  for await (const piece of bytes) {
    if (terminal.gone.aborted) return;
    terminal.printPiece(decoder.decode(piece, { stream: true }));
  }
  terminal.print(decoder.decode());
};

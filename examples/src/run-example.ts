import { execFile } from 'node:child_process';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Client } from '@fixpoint/client/client';
import type { Ended } from '@fixpoint/client/wait-for-end';
import { readEvent } from '@fixpoint/contracts/events/parse-event';
import type { Epic, Lineage, LineageDetail } from '@fixpoint/contracts/rest/audit';
import { cursorToken } from '@fixpoint/contracts/rest/cursor-token';
import { withAbsoluteGitUrl } from '@fixpoint/documents/absolute-git-url';
import type { Example } from './examples.ts';

const run = promisify(execFile);

export interface ExampleRun {
  readonly example: Example;
  readonly lineage: Lineage;
  /** What is not as the example says it must be; empty when everything is. */
  readonly surprises: readonly string[];
}

export interface RunOptions {
  readonly client: Client;
  /** Absolute; the example's repository is made in a folder below it. */
  readonly folder: string;
  readonly path: string;
  /** Where executors answer workers. */
  readonly workerUrl: string;
  readonly timeoutMs: number;
  /** Runs `fixpoint decide` on a handoff; left out, nobody decides. @throws when it is refused. */
  decide?(handoff: string, args: readonly string[]): Promise<void>;
  /** Told of the lineage as soon as it exists. */
  onSubmitted?(example: Example, lineage: string): void;
}

/**
 * Makes the example's repository, publishes its protocol, submits its task, and waits for its end.
 * @throws when that can't be done. A lineage that has not ended in time is a surprise.
 */
export const runExample = async (example: Example, options: RunOptions): Promise<ExampleRun> => {
  const folder = join(options.folder, example.name.replaceAll('/', '-'));
  await mkdir(folder, { recursive: true });
  const place: Place = { example, folder, options };
  await script(place, 'setup.sh');
  if (example.protocol !== null) {
    await options.client.publishProtocol(await readFile(join(example.folder, example.protocol), 'utf8'));
  }
  const document = withAbsoluteGitUrl(await readFile(join(example.folder, example.task), 'utf8'), folder);
  const submitted = await options.client.submit({ document, idempotency_key: folder });
  options.onSubmitted?.(example, submitted.lineage);
  const { ended, lineage } = await ending(place, submitted.lineage);
  if (lineage === null) throw new Error(`lineage ${submitted.lineage} was not seen within ${options.timeoutMs} ms`);
  if (!ended) return { example, lineage, surprises: [`not over in ${options.timeoutMs} ms`] };
  const detail = await options.client.lineage(submitted.lineage);
  const { items: epics } = await options.client.epics({ lineage: submitted.lineage });
  return {
    example,
    lineage: detail,
    surprises: [...surprisesOf(example, detail), ...splitSurprises(example, detail, epics)],
  };
};

interface Place {
  readonly example: Example;
  /** Where its repository is. */
  readonly folder: string;
  readonly options: RunOptions;
}

const script = ({ example, folder, options }: Place, name: string) =>
  run('/bin/sh', [join(example.folder, name)], {
    cwd: folder,
    env: { PATH: options.path, FIXPOINT_WORKER_URL: options.workerUrl },
  });

/** The end of a lineage, with what others do in the meantime and what a human decides. */
const ending = async (place: Place, lineage: string): Promise<Ended> => {
  const { example, options } = place;
  if (example.meanwhile !== undefined) await script(place, example.meanwhile);
  const first = await options.client.waitForEnd(lineage, options.timeoutMs);
  if (example.decision === undefined || options.decide === undefined || first.lineage?.status !== 'human') return first;
  await script(place, example.decision.script);
  await options.decide(await openHandoff(options.client, lineage), example.decision.args);
  await untilDecisionIsShown(options, lineage);
  return options.client.waitForEnd(lineage, options.timeoutMs);
};

/** What is shown before that still waits for the human. */
const untilDecisionIsShown = async ({ client, timeoutMs }: RunOptions, lineage: string): Promise<void> => {
  for await (const { type, cursor } of client.follow(lineage, { signal: AbortSignal.timeout(timeoutMs) })) {
    if (type !== 'human_decided') continue;
    await client.lineage(lineage, cursorToken(cursor));
    return;
  }
};

const openHandoff = async (client: Client, lineage: string): Promise<string> => {
  const { items } = await client.events({ lineage, type: 'human_required' });
  const last = items.at(-1);
  if (last === undefined) throw new Error(`no handoff of ${lineage} is shown`);
  return readEvent(last, 'human_required').handoff;
};

const splitSurprises = (
  { expected }: Example,
  { children, split_depth }: Lineage,
  epics: readonly Epic[],
): string[] => {
  const failed = epics.reduce((sum, { attempts }) => sum + attempts, 0);
  const found = `${children} children, ${split_depth} deep, ${failed} failed assemblies`;
  const { children: made, depth, failedAssemblies } = expected.split ?? { children: 0, depth: 0, failedAssemblies: 0 };
  const wanted = `${made} children, ${depth} deep, ${failedAssemblies} failed assemblies`;
  const open = epics.filter(({ status }) => status !== 'closed').map(({ epic }) => `epic ${epic} is not closed`);
  return found === wanted ? open : [`${found}, not ${wanted}`, ...open];
};

const surprisesOf = ({ expected }: Example, lineage: LineageDetail): string[] => {
  const surprises: string[] = [];
  if (lineage.status !== expected.status) surprises.push(`status ${lineage.status}, not ${expected.status}`);
  if (expected.rawHaltType !== null && lineage.raw_halt_type !== expected.rawHaltType) {
    surprises.push(`halted by ${lineage.raw_halt_type}, not ${expected.rawHaltType}`);
  }
  if (!isWithin(lineage.fix_attempts, expected.fixAttempts)) surprises.push(`${lineage.fix_attempts} fix attempts`);
  if (!isWithin(lineage.depth, expected.depth)) surprises.push(`depth ${lineage.depth}`);
  const skipped = lineage.tree.skipped.map(({ node }) => node).join(', ');
  if (skipped !== (expected.skipped ?? []).join(', ')) surprises.push(`skipped: ${skipped || 'no node'}`);
  return surprises;
};

const isWithin = (value: number, { least, most }: { least: number; most: number }): boolean =>
  value >= least && value <= most;

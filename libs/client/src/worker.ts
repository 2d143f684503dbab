import { setTimeout as sleep } from 'node:timers/promises';
import {
  type fileChangeSchema,
  heartbeatAnswerSchema,
  type LeasedJob,
  LONGEST_WAIT_MS,
  leasedJobSchema,
} from '@fixpoint/contracts/rest/jobs';
import type { z } from 'zod';
import { ApiError } from './api-error.ts';
import { ask, type Connection, send } from './http.ts';

export interface WorkerOptions {
  /** Base URL of the executors. */
  readonly workerUrl: string;
  /** Of the role `worker`; null where no keys are configured. */
  readonly apiKey: string | null;
  readonly queue: string;
  /** Names this process to people. */
  readonly name: string;
  /** Jobs at a time; default 1. */
  readonly concurrency?: number;
  /** A job is lost to this worker when nothing is heard of it for so long; default 30,000. */
  readonly leaseMs?: number;
  /** Ends the worker: jobs in hand are given back. */
  readonly signal: AbortSignal;
  /** Told of everything that a person may want to know: a connection that is gone, a job that was taken away. */
  readonly report?: (what: string, about: Readonly<Record<string, unknown>>) => void;
}

/** A change of one file, as `POST …/files` takes it. */
export type SentFile = z.input<typeof fileChangeSchema>;

/** What a handler made of a job. Whether that was good is checked where the job came from. */
export interface Done {
  readonly output?: unknown;
  /** 0 when left out. */
  readonly exit_code?: number;
  readonly stdout?: string;
  readonly stderr?: string;
  readonly files?: readonly SentFile[];
  /** As `git diff --binary` prints it. */
  readonly patch?: string;
}

/** What a handler may ask for while it works. */
export interface JobHand {
  /** Aborted when the worker stops, or nobody wants the job any more. */
  readonly signal: AbortSignal;
  /** Told with the next heartbeat. */
  progress(text: string): void;
  /** The files to begin with, a tar archive; null when there are none. */
  workspace(): Promise<AsyncIterable<Uint8Array> | null>;
  /** Sends a part of what was done ahead of the result. */
  sendFiles(files: readonly SentFile[]): Promise<void>;
}

/** Throws when the job could not be done; {@link WorkerTrouble} when that says nothing about the job. */
export type JobHandler = (job: LeasedJob, hand: JobHand) => Promise<Done>;

/** The worker's own machinery failed: the job is tried again, and nobody's attempt is used up. */
export class WorkerTrouble extends Error {
  override readonly name = 'WorkerTrouble';
}

const DEFAULT_LEASE_MS = 30_000;
const ANSWER_MS = 15_000;
/** Heartbeats in the time of one lease: two may go missing. */
const BEATS_IN_LEASE = 3;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;

/**
 * Does the jobs of a queue until the signal aborts. Lost connections are waited out; a job that was taken away is given up.
 * @throws {ApiError} when the executors refuse the key or the queue: asking again would not help.
 */
export const runWorker = async (options: WorkerOptions, handler: JobHandler): Promise<void> => {
  const desk: Desk = {
    options,
    handler,
    connection: {
      baseUrl: options.workerUrl,
      apiKey: options.apiKey,
      timeoutMs: ANSWER_MS + LONGEST_WAIT_MS,
    },
    report: options.report ?? (() => undefined),
  };
  await Promise.all(Array.from({ length: options.concurrency ?? 1 }, () => workOn(desk)));
};

interface Desk {
  readonly options: WorkerOptions;
  readonly handler: JobHandler;
  readonly connection: Connection;
  readonly report: NonNullable<WorkerOptions['report']>;
}

const workOn = async (desk: Desk): Promise<void> => {
  const { signal } = desk.options;
  for (let failures = 0; !signal.aborted; ) {
    const asked = await nextJob(desk).catch((error: unknown) => toldOf(desk, error));
    failures = asked === 'unheard' ? failures + 1 : 0;
    if (asked === 'unheard') await pause(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures), signal);
    else if (asked !== null) await doJob(desk, asked);
  }
};

const toldOf = ({ options, report }: Desk, error: unknown): 'unheard' => {
  if (isRefusal(error) && !options.signal.aborted) throw error;
  if (!options.signal.aborted) report('no job could be asked for', { error });
  return 'unheard';
};

/** Asking again gives the same answer. */
const isRefusal = (error: unknown): boolean =>
  error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429;

const pause = async (ms: number, signal: AbortSignal): Promise<void> => {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
};

const nextJob = async ({ options, connection }: Desk): Promise<LeasedJob | null> => {
  const { queue, name: worker, leaseMs: lease_ms = DEFAULT_LEASE_MS, signal } = options;
  const body = { queue, worker, lease_ms, wait_ms: LONGEST_WAIT_MS };
  const answer = await send(connection, { method: 'POST', path: 'v1/worker/leases', body, signal });
  return answer.status === 204 ? null : leasedJobSchema.parse(await answer.json());
};

const doJob = async (desk: Desk, job: LeasedJob): Promise<void> => {
  const over = new AbortController();
  const hand = handFor(desk, job, over.signal);
  const ended = new AbortController();
  const beating = beat(desk, { job, hand, over, ended: ended.signal });
  try {
    const say = await outcomeOf(desk, job, hand);
    if (!over.signal.aborted) await insist(desk, job, say);
  } catch (error) {
    desk.report('a job was given up', { job: job.job, error });
  } finally {
    ended.abort();
    await beating;
  }
};

interface Said {
  readonly path: 'result' | 'fail' | 'release';
  readonly body: object;
}

const outcomeOf = async (desk: Desk, job: LeasedJob, hand: JobHand): Promise<Said> => {
  try {
    return { path: 'result', body: await desk.handler(job, hand) };
  } catch (error) {
    if (desk.options.signal.aborted) return { path: 'release', body: {} };
    const reason = String(error instanceof Error ? error.message : error).slice(0, 8_000) || 'it did not say why';
    return { path: 'fail', body: { reason, fault: error instanceof WorkerTrouble } };
  }
};

/** What was done is said until it is heard, as long as the lease lasts. */
const insist = async (desk: Desk, job: LeasedJob, { path, body }: Said): Promise<void> => {
  const until = performance.now() + job.lease_ms;
  for (let failures = 1; ; failures += 1) {
    try {
      await post(desk, job, { path, body });
      return;
    } catch (error) {
      if (isRefusal(error) || performance.now() >= until) throw error;
      await sleep(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * failures));
    }
  }
};

const jobPath = ({ job }: LeasedJob, path: string): string => `v1/worker/jobs/${encodeURIComponent(job)}/${path}`;

const post = (
  { connection }: Desk,
  job: LeasedJob,
  { path, body }: { readonly path: string; readonly body: object },
): Promise<Response> =>
  send(connection, { method: 'POST', path: jobPath(job, path), body: { ...body, epoch: job.epoch } });

interface Hand extends JobHand {
  /** What is to be told with the next heartbeat. */
  told(): string | undefined;
}

const handFor = (desk: Desk, job: LeasedJob, over: AbortSignal): Hand => {
  let progress: string | undefined;
  return {
    signal: AbortSignal.any([over, desk.options.signal]),
    told: () => progress,
    progress: (text) => {
      progress = text.slice(0, 2_000);
    },
    workspace: async () => {
      if (!job.has_workspace) return null;
      const query = { epoch: job.epoch };
      return (await send(desk.connection, { method: 'GET', path: jobPath(job, 'workspace'), query })).body;
    },
    sendFiles: async (files) => void (await post(desk, job, { path: 'files', body: { files } })),
  };
};

interface Beating {
  readonly job: LeasedJob;
  readonly hand: Hand;
  readonly over: AbortController;
  readonly ended: AbortSignal;
}

const beat = async (desk: Desk, { job, hand, over, ended }: Beating): Promise<void> => {
  for (;;) {
    await pause(job.lease_ms / BEATS_IN_LEASE, ended);
    if (ended.aborted) return;
    const progress = hand.told();
    const body = { epoch: job.epoch, ...(progress === undefined ? {} : { progress }) };
    const call = { method: 'POST', path: jobPath(job, 'heartbeat'), body, signal: ended } as const;
    await ask(desk.connection, call, heartbeatAnswerSchema).catch((error: unknown) => {
      if (ended.aborted) return;
      desk.report('a heartbeat was not heard', { job: job.job, error });
      if (isRefusal(error)) over.abort(error);
    });
  }
};

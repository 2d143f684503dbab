import { join } from 'node:path';
import type { Clock, Ids } from '@fixpoint/contracts/clock';
import { STOP_TYPES } from '@fixpoint/contracts/services';
import { stoppedBy } from '@fixpoint/contracts/stopped';
import { protocolCatalog } from '@fixpoint/documents/protocol-catalog';
import type { Artifacts } from '@fixpoint/event-store/artifacts';
import type { EventStore } from '@fixpoint/event-store/event-store';
import { PostgresArtifacts } from '@fixpoint/event-store/postgres-artifacts';
import { hostGit } from '@fixpoint/execution/git';
import { gitWorkspaces } from '@fixpoint/execution/git-workspaces';
import { removeLeftovers } from '@fixpoint/execution/leftovers';
import { hostRunner, killAbandoned } from '@fixpoint/execution/process-runner';
import type { SandboxPolicy } from '@fixpoint/execution/sandbox/confinement';
import type { Sandbox } from '@fixpoint/execution/sandbox/sandbox';
import type { Offer } from '@fixpoint/messaging/bus';
import { endedTasks } from '@fixpoint/messaging/ended-tasks';
import { ownedWork } from '@fixpoint/messaging/owned-work';
import type { Publisher } from '@fixpoint/messaging/publisher';
import { configuredModels, type Models } from '@fixpoint/models/configured-models';
import { loadPlaybook } from '@fixpoint/models/playbook/load-playbook';
import { deadLetterOf } from '@fixpoint/runtime/dead-letters';
import { ARTIFACTS, CLOCK, EVENT_STORE, IDS, LOG, POOL, PUBLISHER, TELEMETRY } from '@fixpoint/runtime/infrastructure';
import type { Log } from '@fixpoint/runtime/log';
import { loop } from '@fixpoint/runtime/loop';
import { preparedSandbox } from '@fixpoint/runtime/prepared-sandbox';
import { listener, reader } from '@fixpoint/runtime/readers';
import { leasesOf, mirrorsLoop } from '@fixpoint/runtime/service-work';
import type { Telemetry } from '@fixpoint/runtime/telemetry/telemetry';
import type { DynamicModule, OnModuleDestroy } from '@nestjs/common';
import type { Pool } from 'pg';
import type { RunConfig } from './config.ts';
import { JOB_DESK, JobsController } from './http/jobs.controller.ts';
import { type JobDesk, jobDesk } from './jobs/job-desk.ts';
import type { Jobs } from './jobs/jobs.ts';
import { memoryJobs } from './jobs/memory-jobs.ts';
import { postgresJobs } from './jobs/postgres-jobs.ts';
import { primitiveCalls } from './ladder/primitive-calls.ts';
import { reaper } from './run/reaper.ts';
import { keepingFolder } from './run/run-folder.ts';
import { EXECUTOR_RUN, runReader } from './run-reader.ts';
import { tokenCheck } from './token-check.ts';
import { unfinishedUploads } from './unfinished-uploads.ts';

class ExecutorModule {}

const EXECUTOR = Symbol('EXECUTOR');
/** {@link Jobs} */
const JOBS = Symbol('JOBS');

interface Foundations {
  readonly store: EventStore;
  readonly publisher: Publisher;
  readonly artifacts: Artifacts;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly pool: Pool | null;
  readonly log: Log;
  readonly telemetry: Telemetry | null;
  readonly jobs: Jobs;
}

export interface ExecutorConfig extends Omit<RunConfig, 'apiUrl' | 'models'> {
  /** Null or left out: commands of runs are not told where the write API is. */
  readonly apiUrl?: string | null;
  /** Left out: only the playbook. */
  readonly models?: RunConfig['models'];
  /** Values of the variables that hold the keys of models. */
  readonly modelKeys?: Readonly<Record<string, string>>;
  /** Taken in place of what is configured. */
  readonly agents?: Models['agent'];
}

/** @param infrastructure made once per process; pass the same object to every service. */
export const executorModule = (infrastructure: DynamicModule, config: ExecutorConfig): DynamicModule => ({
  module: ExecutorModule,
  imports: [infrastructure],
  controllers: [JobsController],
  providers: [
    { provide: JOBS, inject: [POOL, CLOCK], useFactory: jobsOf },
    { provide: JOB_DESK, inject: [JOBS, ARTIFACTS, CLOCK], useFactory: deskOf },
    {
      provide: EXECUTOR,
      inject: [EVENT_STORE, PUBLISHER, ARTIFACTS, CLOCK, IDS, POOL, LOG, TELEMETRY, JOBS],
      useFactory: (...[store, publisher, artifacts, clock, ids, pool, log, telemetry, jobs]: Injected) =>
        executor({ store, publisher, artifacts, clock, ids, pool, log, telemetry, jobs }, config),
    },
    ...PARTS.map((part) => ({
      provide: `EXECUTOR_${part}`,
      inject: [EXECUTOR],
      useFactory: (parts: Awaited<ReturnType<typeof executor>>) => parts[part],
    })),
  ],
});

/** Each is a provider of its own: Nest starts and stops no value inside another one. */
const PARTS = ['reader', 'stops', 'leases', 'reaper', 'uploads', 'mirrors', 'jobs'] as const;

type Injected = [EventStore, Publisher, Artifacts, Clock, Ids, Pool | null, Log, Telemetry | null, Jobs];

/**
 * All that the process runs for this service: the reader, the listener for stop events, the loops. What a predecessor
 * that was killed left running is killed first, and what it left on disk removed.
 */
const executor = async (foundations: Foundations, config: ExecutorConfig) => {
  await killAbandoned(commandsIn(config));
  const { store, publisher, clock, ids, log, pool } = foundations;
  const left = await removeLeftovers(leftoversIn(config));
  if (left > 0) log.warn({ left }, 'not everything that a predecessor left could be removed');
  const prepared = await preparedSandbox(config, log);
  const owner = `executor-${ids.uuid()}`;
  const leases = leasesOf('executor', foundations);
  const work = ownedWork({
    leases,
    clock,
    owner,
    hasEnded: endedTasks(store),
    concurrency: config.longConcurrency,
  });
  const catalog = protocolCatalog((stream) => store.readStream(stream));
  return {
    reader: reader(
      runReader({
        ...foundations,
        ...toolsOf(foundations, config, prepared),
        work,
        owner,
        concurrency: config.concurrency,
        checkToken: tokenCheck(config.tokenKeys),
        modeOf: (scope, protocol) => catalog.modeOf(scope, protocol),
        fresh: () => ids.uuid(),
        deadLetter: deadLetterOf(foundations, 'executor', EXECUTOR_RUN),
      }),
    ),
    stops: listener('executor__stop', STOP_TYPES, ({ event }: Offer) => {
      for (const stopped of stoppedBy(event)) work.stop({ root: event.root, ...stopped });
    }),
    leases: loop('executor__leases', (signal) => work.renew(signal), { clock, log }),
    reaper: loop('executor__reaper', reaper({ store, publisher, leases, clock, owner }), { clock, log }),
    mirrors: mirrorsLoop('executor', config, foundations),
    jobs: loop('executor__jobs', jobSweep(foundations), { clock, log }),
    uploads: pool === null ? null : uploadsLoop(pool, { clock, log }),
  };
};

const uploadsLoop = (pool: Pool, { clock, log }: Pick<Foundations, 'clock' | 'log'>) =>
  loop('executor__uploads', unfinishedUploads({ artifacts: new PostgresArtifacts(pool), clock }), { clock, log });

/** In a table where there is Postgres, shared by all executors; else in this process. */
const jobsOf = (pool: Pool | null, clock: Clock): Jobs => (pool === null ? memoryJobs(clock) : postgresJobs(pool));

const deskOf = (jobs: Jobs, artifacts: Artifacts, clock: Clock): JobDesk & OnModuleDestroy => {
  const closing = new AbortController();
  const desk = jobDesk({ jobs, artifacts, clock, closing: closing.signal });
  return { ...desk, onModuleDestroy: () => closing.abort() };
};

/** As long may a worker whose executor is gone work on for the next one. */
const JOBS_KEPT_MS = 600_000;
const SWEEP_EVERY_MS = 60_000;

const jobSweep =
  ({ jobs, clock }: Pick<Foundations, 'jobs' | 'clock'>) =>
  async (signal: AbortSignal): Promise<void> => {
    await jobs.sweep(JOBS_KEPT_MS);
    await clock.sleep(SWEEP_EVERY_MS, signal);
  };

const leftoversIn = ({ folder }: Pick<RunConfig, 'folder'>): string[] =>
  ['runs', 'commands', 'workspaces/scratch', 'git/apart'].map((name) => join(folder, name));

const commandsIn = ({ folder }: Pick<RunConfig, 'folder'>): string => join(folder, 'commands');

const toolsOf = (
  { artifacts, telemetry }: Foundations,
  { folder, path, playbooks, apiUrl, models = {}, modelKeys: keys = {}, agents }: ExecutorConfig,
  { policy, sandbox }: { readonly policy: SandboxPolicy; readonly sandbox: Sandbox },
) => {
  const runner = hostRunner({ artifacts, folder: commandsIn({ folder }), path, sandbox });
  const configured = configuredModels({ models, keys, rules: loadPlaybook(playbooks) });
  return {
    artifacts,
    sandboxPolicy: policy,
    folder: join(folder, 'runs'),
    runner: keepingFolder(telemetry?.runner(runner) ?? runner),
    workspaces: gitWorkspaces({ root: join(folder, 'workspaces'), artifacts, path }),
    primitives: primitiveCalls(hostGit({ folder: join(folder, 'git'), path })),
    models: agents === undefined ? configured : { ...configured, agent: agents },
    apiUrl: apiUrl ?? null,
  };
};

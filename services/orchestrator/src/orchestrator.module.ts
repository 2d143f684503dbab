import type { Clock, Ids } from '@fixpoint/contracts/clock';
import type { Artifacts } from '@fixpoint/event-store/artifacts';
import type { EventStore } from '@fixpoint/event-store/event-store';
import type { Bus } from '@fixpoint/messaging/bus';
import type { Ingest } from '@fixpoint/messaging/ingest';
import type { Publisher } from '@fixpoint/messaging/publisher';
import type { ApiKey } from '@fixpoint/runtime/api-keys';
import { deadLetterOf } from '@fixpoint/runtime/dead-letters';
import {
  ARTIFACTS,
  BUS,
  CLOCK,
  EVENT_STORE,
  IDS,
  INGEST,
  LOG,
  METRICS,
  POOL,
  PUBLISHER,
} from '@fixpoint/runtime/infrastructure';
import type { Log } from '@fixpoint/runtime/log';
import { loop } from '@fixpoint/runtime/loop';
import { reader } from '@fixpoint/runtime/readers';
import {
  DEFAULT_RECONCILE_AT,
  type ReconcilingDeps,
  reconciledHealth,
  reconciledMetric,
  reconcileNightly,
} from '@fixpoint/runtime/reconciling';
import { RunTokens, type TokenKeys } from '@fixpoint/runtime/run-tokens';
import { storeWatch } from '@fixpoint/runtime/store-watch';
import type { Metrics } from '@fixpoint/runtime/telemetry/metrics';
import type { DynamicModule } from '@nestjs/common';
import { Kysely, PostgresDialect } from 'kysely';
import type { Pool } from 'pg';
import { ORCHESTRATOR_DECIDE } from './decide-reader.ts';
import { CANCEL_DESK, CancelController } from './http/cancel.controller.ts';
import { DEAD_LETTER_DESK, DeadLettersController } from './http/dead-letters.controller.ts';
import { ESCALATIONS, EscalationsController } from './http/escalations.controller.ts';
import { HANDOFF_DESK, HandoffsController } from './http/handoffs.controller.ts';
import { OpenApiController } from './http/openapi.controller.ts';
import { ProtocolVersionsController } from './http/protocol-versions.controller.ts';
import { ProtocolsController, PUBLISHING } from './http/protocols.controller.ts';
import { PROVIDER_DESK, ProvidersController } from './http/providers.controller.ts';
import { SchemasController } from './http/schemas.controller.ts';
import { SUBMISSIONS, type Submissions, TasksController } from './http/tasks.controller.ts';
import { INGESTED, ingestRound } from './ingest/take-ingested.ts';
import { type ModelNames, ONLY_THE_PLAYBOOK } from './model-names.ts';
import { type Orchestrator, orchestratorOf } from './orchestrator.ts';
import type { Window } from './queue/admissions.ts';
import { DISPATCH } from './queue/dispatch.ts';
import { measureProviders, measureQueue } from './queue/measure-queue.ts';
import { memoryQueue } from './queue/memory-queue.ts';
import { postgresQueue } from './queue/postgres-queue.ts';
import type { Queue } from './queue/queue.ts';
import { foldVersion } from './snapshots/fold-version.ts';
import { postgresSnapshots } from './snapshots/postgres-snapshots.ts';
import { SNAPSHOTS } from './snapshots/save-snapshots.ts';
import { memoryWaits } from './waits/memory-waits.ts';
import { postgresWaits, type WaitTables, waitRows } from './waits/postgres-waits.ts';
import type { Waits } from './waits/waits.ts';
import type { EscalateDeps } from './writing/escalate.ts';
import type { HandoffDeps } from './writing/handoffs.ts';
import { type DecisionKeys, decisionSigner } from './writing/sign-decision.ts';

class OrchestratorModule {}

/** The write API. */
export const CONTROLLERS = [
  TasksController,
  ProtocolsController,
  ProtocolVersionsController,
  EscalationsController,
  SchemasController,
  DeadLettersController,
  HandoffsController,
  CancelController,
  ProvidersController,
  OpenApiController,
] as const;

const KEPT = Symbol('KEPT');
const ORCHESTRATOR = Symbol('ORCHESTRATOR');
const WINDOW = Symbol('WINDOW');
const MODELS = Symbol('MODELS');
const RECONCILING = Symbol('RECONCILING');

export const DEFAULT_MOST_IN_FLIGHT = 10_000;
/** More than a few replicas can have in hand, so that only what piles up is put in order. */
export const DEFAULT_WINDOW = 10_000;
export const DEFAULT_MOST_QUEUED = 100_000;

export interface OrchestratorConfig {
  /** Tasks that may be on their way into the store at the same time. */
  readonly mostInFlight: number;
  /** Runs that may be in flight at the same time, in all replicas together. */
  readonly window?: number;
  /** The same for each project. */
  readonly projectWindow?: number;
  /** Queued runs beyond which tasks are refused. */
  readonly mostQueued?: number;
  /** When the rows of what lineages wait for are compared with the log every day, `HH:MM` in UTC; null for never. */
  readonly reconcileAt?: string | null;
  /** Keys that sign what humans decide; without one nothing can be decided. */
  readonly decisionKeys?: DecisionKeys;
  /** Public keys of the validators; without one no run can submit anything. */
  readonly tokenKeys?: TokenKeys;
  /** Left out: only the playbook. */
  readonly models?: ModelNames;
  /** Of producers that send over the broker; none: whoever may publish there is `local`. */
  readonly apiKeys?: readonly ApiKey[];
}

/** @param infrastructure made once per process; pass the same object to every service. */
export const orchestratorModule = (
  infrastructure: DynamicModule,
  {
    mostInFlight,
    window = DEFAULT_WINDOW,
    projectWindow = window,
    mostQueued = DEFAULT_MOST_QUEUED,
    reconcileAt = DEFAULT_RECONCILE_AT,
    decisionKeys = [],
    tokenKeys = { keys: [] },
    models = ONLY_THE_PLAYBOOK,
    apiKeys = [],
  }: OrchestratorConfig = { mostInFlight: DEFAULT_MOST_IN_FLIGHT },
): DynamicModule => ({
  module: OrchestratorModule,
  imports: [infrastructure],
  controllers: [...CONTROLLERS],
  providers: [
    { provide: KEPT, inject: [POOL, EVENT_STORE, CLOCK, IDS], useFactory: keptOf },
    { provide: WINDOW, useValue: { total: window, project: projectWindow } },
    { provide: MODELS, useValue: models },
    {
      provide: ORCHESTRATOR,
      inject: [KEPT, WINDOW, MODELS, METRICS, POOL, EVENT_STORE, BUS, PUBLISHER, CLOCK, IDS, LOG],
      useFactory: orchestrator,
    },
    {
      provide: SUBMISSIONS,
      inject: [ORCHESTRATOR],
      useFactory: ({ submissions, queued }: Orchestrator): Submissions => ({
        ...{ ...submissions, mostInFlight, queued, mostQueued },
      }),
    },
    ESCALATION_DESK,
    {
      provide: 'RUN_TOKENS',
      inject: [CLOCK],
      useFactory: (clock: Clock) => new RunTokens(tokenKeys, () => clock.now()),
    },
    {
      provide: PUBLISHING,
      inject: [EVENT_STORE, CLOCK],
      useFactory: (store: EventStore, clock: Clock) => ({ store, clock }),
    },
    ...DESKS.map(([provide, part]) => ({
      provide,
      inject: [ORCHESTRATOR],
      useFactory: (each: Orchestrator) => each[part],
    })),
    handoffDesk(decisionKeys),
    {
      provide: 'ORCHESTRATOR_READER',
      inject: [ORCHESTRATOR],
      useFactory: (each: Orchestrator) => reader(each.reader),
    },
    ...['orchestrator__waits', 'orchestrator__heal', 'orchestrator__timers', DISPATCH, SNAPSHOTS].map(loopProvider),
    ingesting(apiKeys),
    ...reconciling(reconcileAt),
    ...storeWatch('orchestrator', ['orchestrator__waits']),
  ],
});

const DESKS = [
  [DEAD_LETTER_DESK, 'deadLetters'],
  [CANCEL_DESK, 'cancels'],
  [PROVIDER_DESK, 'providers'],
] as const;

const reconciling = (reconcileAt: string | null) => [
  {
    provide: RECONCILING,
    inject: [POOL, EVENT_STORE, CLOCK, LOG, METRICS],
    useFactory: (
      ...[pool, store, clock, log, metrics]: [Pool | null, EventStore, Clock, Log, Metrics]
    ): ReconcilingDeps<WaitTables> | null =>
      pool && { db: tablesOf(pool), store, clock, log, metrics, projection: waitRows, at: reconcileAt },
  },
  ...RECONCILERS.map((useFactory, index) => ({
    provide: `ORCHESTRATOR_RECONCILER_${index}`,
    inject: [RECONCILING],
    // Rows in this process' own memory have nothing that could diverge.
    useFactory: (deps: ReconcilingDeps<WaitTables> | null) => deps && useFactory(deps),
  })),
];

const ESCALATION_DESK = {
  provide: ESCALATIONS,
  inject: [ORCHESTRATOR, ARTIFACTS],
  useFactory: ({ submissions }: Orchestrator, artifacts: Artifacts): EscalateDeps => ({ ...submissions, artifacts }),
};

const handoffDesk = (keys: DecisionKeys) => ({
  provide: HANDOFF_DESK,
  inject: [ORCHESTRATOR, ARTIFACTS],
  useFactory: ({ deadLetters }: Orchestrator, artifacts: Artifacts): HandoffDeps => ({
    ...deadLetters,
    artifacts,
    sign: decisionSigner(keys),
  }),
});

const ingesting = (apiKeys: readonly ApiKey[]) => ({
  provide: INGESTED,
  inject: [INGEST, ESCALATIONS, EVENT_STORE, PUBLISHER, CLOCK, LOG],
  useFactory: (
    ...[ingest, escalations, store, publisher, clock, log]: [
      Ingest | null,
      EscalateDeps,
      EventStore,
      Publisher,
      Clock,
      Log,
    ]
  ) => {
    const deadLetter = deadLetterOf({ store, publisher, clock }, 'orchestrator', INGESTED);
    return ingest && loop(INGESTED, ingestRound(ingest, { escalations, apiKeys, deadLetter }), { clock, log });
  },
});

const RECONCILERS = [
  (deps: ReconcilingDeps<WaitTables>) => loop('orchestrator__reconcile', reconcileNightly(deps), deps),
  reconciledHealth<WaitTables>,
  reconciledMetric<WaitTables>,
] as const;

const loopProvider = (name: string) => ({
  provide: name,
  inject: [ORCHESTRATOR, CLOCK, LOG],
  useFactory: ({ loops }: Orchestrator, clock: Clock, log: Log) => {
    const step = loops[name];
    if (!step) throw new Error(`there is no loop ${name}`);
    return loop(name, step, { clock, log });
  },
});

/** In tables where there is Postgres, shared by all replicas; else in this process. The pool belongs to the process. */
const keptOf = (...[pool, store, clock, ids]: [Pool | null, EventStore, Clock, Ids]): Kept => {
  if (pool !== null) {
    const db = tablesOf(pool);
    return { waits: postgresWaits({ db, store, owner: ids.uuid() }), queue: postgresQueue(db) };
  }
  const waits = memoryWaits(store, clock);
  return { waits, queue: memoryQueue(waits, clock) };
};

interface Kept {
  readonly waits: Waits;
  readonly queue: Queue;
}

const tablesOf = (pool: Pool): Kysely<WaitTables> => new Kysely({ dialect: new PostgresDialect({ pool }) });

type Parts = [Kept, Window, ModelNames, Metrics, Pool | null, EventStore, Bus, Publisher, Clock, Ids, Log];

const orchestrator = (
  ...[kept, window, models, metrics, pool, store, bus, publisher, clock, ids, log]: Parts
): Orchestrator =>
  orchestratorOf({
    ...{ ...kept, window, models, store, bus, publisher, clock, ids },
    measure: measureQueue(metrics, clock),
    measureProviders: measureProviders(metrics),
    jitter: Math.random,
    snapshots: pool && postgresSnapshots(tablesOf(pool), foldVersion()),
    deadLetter: deadLetterOf({ store, publisher, clock }, 'orchestrator', ORCHESTRATOR_DECIDE),
    report: (what, about) => log.warn(about, what),
  });

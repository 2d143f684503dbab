import type { Clock, Ids } from '@fixpoint/contracts/clock';
import type { Artifacts } from '@fixpoint/event-store/artifacts';
import { Changes } from '@fixpoint/event-store/changes';
import type { EventStore } from '@fixpoint/event-store/event-store';
import type { Feed } from '@fixpoint/messaging/feed';
import {
  ARTIFACTS,
  CLOCK,
  EVENT_STORE,
  FEED,
  IDS,
  LOG,
  METRICS,
  POOL,
  TELEMETRY,
} from '@fixpoint/runtime/infrastructure';
import type { Log } from '@fixpoint/runtime/log';
import { type Loop, loop } from '@fixpoint/runtime/loop';
import { watcher } from '@fixpoint/runtime/readers';
import {
  DEFAULT_RECONCILE_AT,
  type ReconcilingDeps,
  reconciledHealth,
  reconciledMetric,
  reconcileNightly,
} from '@fixpoint/runtime/reconciling';
import { storeWatch } from '@fixpoint/runtime/store-watch';
import type { Metrics } from '@fixpoint/runtime/telemetry/metrics';
import type { Telemetry } from '@fixpoint/runtime/telemetry/telemetry';
import type { DynamicModule, OnModuleDestroy } from '@nestjs/common';
import { Kysely, PostgresDialect } from 'kysely';
import type { Pool } from 'pg';
import { changedBy } from './changed-by.ts';
import { feedCheckpoint } from './feed/feed-checkpoint.ts';
import { writeFeed } from './feed/feed-leader.ts';
import { AuditController, READING, type Reading } from './http/audit.controller.ts';
import { type ReadModelObserver, readModelObserver } from './measures/read-model-observer.ts';
import { readModel } from './projections/read-model.ts';
import { keepReadModel } from './projections/read-model-loop.ts';
import type { AuditDb } from './projections/row-table.ts';
import { READ_MODEL } from './reading/freshness.ts';

class AuditorModule {}

const AUDIT_DB = Symbol('AUDIT_DB');
const PUBLISHED = Symbol('PUBLISHED');
const SHOWN = Symbol('SHOWN');
const OBSERVER = Symbol('OBSERVER');
const RECONCILING = Symbol('RECONCILING');
/** Of its checkpoint and its loop. */
const FEED_NAME = 'auditor__feed';

export interface AuditorConfig {
  /** When the read model is compared with the log every day, `HH:MM` in UTC; null for never. */
  readonly reconcileAt: string | null;
}

/** @param infrastructure made once per process; pass the same object to every service. It needs Postgres. */
export const auditorModule = (
  infrastructure: DynamicModule,
  { reconcileAt }: AuditorConfig = { reconcileAt: DEFAULT_RECONCILE_AT },
): DynamicModule => ({
  module: AuditorModule,
  imports: [infrastructure],
  controllers: [AuditController],
  providers: [
    { provide: AUDIT_DB, inject: [POOL], useFactory: auditDb },
    { provide: PUBLISHED, useFactory: () => new Changes() },
    { provide: SHOWN, useFactory: () => new Changes() },
    { provide: OBSERVER, inject: [AUDIT_DB, TELEMETRY, LOG], useFactory: observer },
    { provide: READING, inject: [AUDIT_DB, SHOWN, CLOCK, ARTIFACTS], useFactory: reading },
    {
      provide: 'AUDITOR_WATCHER',
      inject: [PUBLISHED],
      useFactory: (published: Changes) => watcher('auditor__read_model', () => published.announce()),
    },
    {
      provide: 'AUDITOR_READ_MODEL',
      inject: [AUDIT_DB, EVENT_STORE, CLOCK, IDS, LOG, PUBLISHED, SHOWN, OBSERVER],
      useFactory: readModelLoop,
    },
    {
      provide: RECONCILING,
      inject: [AUDIT_DB, EVENT_STORE, CLOCK, LOG, METRICS],
      useFactory: (
        ...[db, store, clock, log, metrics]: [AuditDb, EventStore, Clock, Log, Metrics]
      ): ReconcilingDeps<unknown> => ({ db, store, clock, log, metrics, projection: readModel, at: reconcileAt }),
    },
    {
      provide: 'AUDITOR_RECONCILE',
      inject: [RECONCILING],
      useFactory: (deps: ReconcilingDeps<unknown>) => loop('auditor__reconcile', reconcileNightly(deps), deps),
    },
    { provide: 'AUDITOR_RECONCILED', inject: [RECONCILING], useFactory: reconciledHealth },
    { provide: 'AUDITOR_RECONCILED_METRIC', inject: [RECONCILING], useFactory: reconciledMetric },
    ...storeWatch('auditor', [READ_MODEL], { [FEED_NAME]: FEED }),
    {
      provide: 'AUDITOR_FEED',
      inject: [FEED, AUDIT_DB, EVENT_STORE, CLOCK, IDS, LOG, PUBLISHED],
      useFactory: feedLoop,
    },
  ],
});

/** Not destroyed here: the pool belongs to the process. */
const auditDb = (pool: Pool | null): AuditDb => {
  if (pool === null) throw new Error('the auditor keeps its read model in Postgres; this process has none');
  return new Kysely({ dialect: new PostgresDialect({ pool }) });
};

const readModelLoop = (
  ...[db, store, clock, ids, log, published, shown, onlooker]: [
    AuditDb,
    EventStore,
    Clock,
    Ids,
    Log,
    Changes,
    Changes,
    ReadModelObserver | null,
  ]
): Loop =>
  loop('auditor__read_model', keepReadModel({ db, store, owner: ids.uuid(), published, shown, observer: onlooker }), {
    clock,
    log,
  });

const observer = (...[db, telemetry, log]: [AuditDb, Telemetry | null, Log]): ReadModelObserver | null =>
  telemetry === null ? null : readModelObserver({ db, telemetry, log });

/** Null where there is no feed. */
const feedLoop = (
  ...[feed, db, store, clock, ids, log, published]: [Feed | null, AuditDb, EventStore, Clock, Ids, Log, Changes]
): Loop | null => {
  if (feed === null) return null;
  const checkpoint = feedCheckpoint(db, { name: FEED_NAME, owner: ids.uuid(), leaseMs: 10_000 });
  const step = writeFeed({ store, changed: changedBy(published, store), feed, checkpoint, clock });
  return loop(FEED_NAME, step, { clock, log });
};

const reading = (
  ...[db, changes, clock, artifacts]: [AuditDb, Changes, Clock, Artifacts]
): Reading & OnModuleDestroy => {
  const closing = new AbortController();
  return { db, changes, clock, artifacts, closing: closing.signal, onModuleDestroy: () => closing.abort() };
};

import type { Clock } from '@fixpoint/contracts/clock';
import type { EventStore } from '@fixpoint/event-store/event-store';
import type { Projection } from '@fixpoint/event-store/projection';
import { reconcileProjection } from '@fixpoint/event-store/reconcile-projection';
import { claimReconciliation, reconciliations, recordReconciliation } from '@fixpoint/event-store/reconciliations';
import type { OnModuleDestroy } from '@nestjs/common';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { HealthCheck } from './health.ts';
import type { Log } from './log.ts';
import type { LoopStep } from './loop.ts';
import { setting } from './settings.ts';
import type { Metrics } from './telemetry/metrics.ts';

export const DEFAULT_RECONCILE_AT = '03:00';

/** When projections are compared with the log; null for never. Spread it into the settings of a service with projections. */
export const reconcileSettings = {
  reconcileAt: setting('FIXPOINT_RECONCILE_AT', {
    schema: z
      .string()
      .regex(/^(never|([01]\d|2[0-3]):[0-5]\d)$/, 'is no time of day')
      .transform((text) => (text === 'never' ? null : text)),
    unit: 'HH:MM in UTC, or never',
    fallback: DEFAULT_RECONCILE_AT,
    about: 'When, every day by the clock of the database, one process compares each projection with the log.',
  }),
};

export interface ReconcilingDeps<Tables> {
  readonly db: Kysely<Tables>;
  readonly store: Pick<EventStore, 'readAll'>;
  readonly projection: Projection<Tables>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** `HH:MM`, UTC; null for never. */
  readonly at: string | null;
}

/** How often each process looks whether a comparison is due. */
const LOOK_EVERY_MS = 60_000;

/**
 * One round of the nightly comparison, for a loop: the process that claims it folds the whole log again. What differs is
 * logged with the names of the rows and kept in the store, where health and metrics of every process find it.
 */
export const reconcileNightly =
  <Tables>({ db, store, projection, clock, log, at }: ReconcilingDeps<Tables>): LoopStep =>
  async (signal) => {
    const { name } = projection;
    if (at !== null && (await claimReconciliation(db, name, at))) {
      const found = await reconcileProjection({ db, store, projection, signal });
      await recordReconciliation(db, name, found);
      const { events, rows, differing, differences } = found;
      if (differing === 0) log.info({ projection: name, events, rows }, 'a projection says what the log says');
      else log.error({ projection: name, events, rows, differing, differences }, 'a projection differs from the log');
    }
    await clock.sleep(LOOK_EVERY_MS, signal);
  };

/** A remark while the last comparison found rows that differ: they are shown wrongly, and everything else works. */
export const reconciledHealth = <Tables>({ db, projection: { name } }: ReconcilingDeps<Tables>): HealthCheck =>
  new HealthCheck(
    `projection ${name}`,
    () => undefined,
    async () => {
      const last = (await reconciliations(db)).find(({ projection }) => projection === name);
      if (last === undefined || last.differing === null || last.differing === 0) return '';
      return `${last.differing} rows differed from the log at ${last.finished_at}: see fixpoint projections reconcile ${name}`;
    },
  );

/** Shows the last result to whoever collects metrics; ends with the module. */
export const reconciledMetric = <Tables>({
  db,
  metrics,
  projection: { name },
}: ReconcilingDeps<Tables>): OnModuleDestroy => {
  const end = metrics.observe('fixpoint.projection.rows.differing', async () =>
    (await reconciliations(db)).flatMap(({ projection, differing }) =>
      projection === name && differing !== null ? [{ value: differing, attributes: { 'fixpoint.reader': name } }] : [],
    ),
  );
  return { onModuleDestroy: end };
};

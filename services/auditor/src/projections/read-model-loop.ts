import type { Changes } from '@fixpoint/event-store/changes';
import type { EventStore } from '@fixpoint/event-store/event-store';
import { type Projection, ProjectionRunner } from '@fixpoint/event-store/projection';
import { changedBy } from '../changed-by.ts';
import type { ReadModelObserver } from '../measures/read-model-observer.ts';
import { readModel } from './read-model.ts';
import type { AuditDb } from './row-table.ts';

export interface ReadModelLoop {
  readonly db: AuditDb;
  readonly store: Pick<EventStore, 'readAll' | 'changed'>;
  /** Names this process among those that keep the read model. */
  readonly owner: string;
  /** Announced by whoever hears that something was published. */
  readonly published: Changes;
  /** Announced here after the read model has moved. */
  readonly shown: Changes;
  /** Null or left out: nobody looks on. */
  readonly observer?: ReadModelObserver | null;
}

const PAGE = 1_000;
/** Without a word from the bus, the log is looked at this often. */
const POLL_MS = 200;
/** What people see may be this old: for each task in turn, keeping up to the moment would cost as much as the task. */
const GATHER_MS = 75;

/** One round of keeping the read model up to date, for a loop. */
export const keepReadModel = (options: ReadModelLoop): ((signal: AbortSignal) => Promise<void>) => {
  const { db, owner, shown, observer = null } = options;
  let hasMoved = false;
  const projection: Projection<unknown> = {
    ...readModel,
    apply: async (target, events) => {
      const apply = (): Promise<void> => readModel.apply(target, events);
      await (observer === null ? apply() : observer.during(events, apply));
      hasMoved = true;
    },
  };
  const runner = new ProjectionRunner({
    db,
    store: {
      readAll: (after, limit) => options.store.readAll(after, limit),
      changed: changedBy(options.published, options.store),
    },
    projection,
    owner,
    pageSize: PAGE,
    pollMs: POLL_MS,
    gatherMs: GATHER_MS,
  });
  return async (signal) => {
    hasMoved = false;
    try {
      await runner.step(signal);
      if (hasMoved) shown.announce();
      if (hasMoved) await observer?.moved();
    } finally {
      // Another replica takes over at once, instead of waiting for the lease to run out.
      if (signal.aborted) await runner.release();
    }
  };
};

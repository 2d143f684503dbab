import { allVisible } from '@fixpoint/testing/all-visible';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Kysely, sql } from 'kysely';
import type { EventStore } from './event-store.ts';
import { ownerDatabase } from './owner-database.ts';
import { comparedTables, type TableSum, tableSum } from './projected-rows.ts';
import { checkpointOf, type Projection, ProjectionRunner } from './projection.ts';
import { RebuildElsewhere, type RebuildOptions, rebuildProjection } from './rebuild-projection.ts';
import { type Reconciled, reconcileProjection } from './reconcile-projection.ts';

export interface ProjectionUnderTest<Tables> {
  readonly projection: Projection<Tables>;
  readonly store: EventStore;
  /** Connects as a member of every role. */
  readonly url: string;
  /** With the rights of the service. At least 4 connections. */
  readonly db: Kysely<Tables>;
  /** Appends the nth part of a history in which rows are made, changed and removed. */
  happens(n: number): Promise<void>;
  /** Statement that spoils one live row, as `update s.t set …`, and the row's name. */
  readonly spoil: { readonly statement: string; readonly table: string; readonly row: string };
  close(): Promise<void>;
}

const PART_TIMEOUT_MS = 120_000;

/** What every projection promises beyond its rows: it can be built anew beside itself, and held against the log. */
export const projectionContract = <Tables>(name: string, open: () => Promise<ProjectionUnderTest<Tables>>): void => {
  describe(name, () => {
    let subject: ProjectionUnderTest<Tables>;
    let owner: Kysely<Tables>;
    let live: ProjectionRunner<Tables>;
    let parts = 0;
    let rebuilds = 0;

    beforeAll(async () => {
      subject = await open();
      const { db, store, projection, url } = subject;
      owner = await ownerDatabase<Tables>(url, 3);
      live = new ProjectionRunner({ db, store, projection, owner: 'live', pageSize: 40 });
      for (let n = 0; n < 4; n += 1) await happens();
      await caughtUp();
    }, PART_TIMEOUT_MS);
    afterAll(async () => {
      await owner.destroy();
      await subject.close();
    });

    const happens = async (): Promise<void> => {
      parts += 1;
      await subject.happens(parts);
    };
    const caughtUp = async (): Promise<void> => {
      await allVisible(subject.store);
      await live.catchUp();
    };
    const rebuild = (change: Partial<RebuildOptions<Tables>> = {}) => {
      rebuilds += 1;
      const { store, projection } = subject;
      return rebuildProjection({ db: owner, store, projection, owner: `rebuild ${rebuilds}`, pageSize: 60, ...change });
    };
    const reconcile = (): Promise<Reconciled> => {
      const { db, store, projection } = subject;
      return reconcileProjection({ db, store, projection, pageSize: 70 });
    };
    const sums = async (): Promise<Record<string, TableSum>> => {
      const db = subject.db as unknown as Kysely<unknown>;
      const found: Record<string, TableSum> = {};
      for (const each of await comparedTables(db, subject.projection)) {
        // Everything at once: what may be removed one day is here until then.
        found[each.table.name] = await tableSum(db, { ...each, asOf: '-infinity' });
      }
      return found;
    };

    test(
      'F1 P25 says the same after three rebuilds under live writes',
      async () => {
        for (let round = 1; round <= 3; round += 1) {
          const over = new AbortController();
          const living = (async () => {
            while (!over.signal.aborted) {
              await happens();
              await live.step(over.signal);
            }
          })();
          const { events, cursor } = await rebuild().finally(() => over.abort());
          await living;
          await happens();
          expect(events).toBeGreaterThan(0);
          await caughtUp();
          expect(await checkpointOf(subject.db, subject.projection.name)).not.toEqual(cursor);
          const underWrites = await sums();
          await rebuild();
          expect(await sums()).toEqual(underWrites);
        }
      },
      PART_TIMEOUT_MS,
    );

    test(
      'F3 B17 holds against a fold of the log, whatever was added, changed and removed',
      async () => {
        await caughtUp();
        const { events, rows, differing, differences } = await reconcile();
        expect({ differing, differences }).toEqual({ differing: 0, differences: [] });
        expect(events).toBeGreaterThan(10);
        expect(rows).toBeGreaterThan(0);
      },
      PART_TIMEOUT_MS,
    );

    test(
      'B17 a row that diverged is named, and a rebuild mends it',
      async () => {
        await caughtUp();
        const right = await sums();
        const { statement, table, row } = subject.spoil;
        await sql.raw(statement).execute(subject.db);
        const { differing, differences } = await reconcile();
        expect(differing).toBe(1);
        expect(differences).toMatchObject([{ table, row, kind: 'different' }]);
        await rebuild();
        expect(await sums()).toEqual(right);
        expect((await reconcile()).differing).toBe(0);
      },
      PART_TIMEOUT_MS,
    );

    test(
      'P25 leaves everything as it was when an event fails in the rebuild, and can be rebuilt afterwards',
      async () => {
        await caughtUp();
        const before = await sums();
        const { projection } = subject;
        const failing = { ...projection, apply: () => Promise.reject(new Error('no')) };
        await expect(rebuild({ projection: failing })).rejects.toThrow(`${projection.name} can't be rebuilt`);
        expect(await sums()).toEqual(before);
        await rebuild();
        expect(await sums()).toEqual(before);
      },
      PART_TIMEOUT_MS,
    );

    test(
      'P26 is rebuilt by one process at a time',
      async () => {
        await caughtUp();
        const second: Promise<unknown>[] = [];
        const onProgress = () => void second.push(rebuild().catch((error: unknown) => error));
        await rebuild({ onProgress });
        const outcomes = await Promise.all(second);
        expect(outcomes.length).toBeGreaterThan(0);
        expect(outcomes[0]).toBeInstanceOf(RebuildElsewhere);
      },
      PART_TIMEOUT_MS,
    );

    test(
      'P25 a page that was being written when the rebuild began is in the new tables',
      async () => {
        await caughtUp();
        const { db, store, projection } = subject;
        let rebuilt: Promise<unknown> = Promise.resolve();
        await live.release();
        const slow = new ProjectionRunner<Tables>({
          ...{ db, store, owner: 'slow', pageSize: 3 },
          projection: {
            ...projection,
            apply: async (target, events) => {
              await projection.apply(target, events);
              // The page is written and not committed yet.
              rebuilt = rebuild();
            },
          },
        });
        await happens();
        await allVisible(store);
        await slow.step(new AbortController().signal);
        await rebuilt;
        await slow.release();
        await caughtUp();
        expect((await reconcile()).differing).toBe(0);
      },
      PART_TIMEOUT_MS,
    );

    test(
      'its tables keep their names, indexes, options and grants through a rebuild',
      async () => {
        const shape = async (): Promise<unknown> => {
          const { schema } = subject.projection;
          const { rows } = await sql`
          select c.relname, c.relkind, c.reloptions, c.relacl::text, obj_description(c.oid, 'pg_class') as comment,
            case when c.relkind = 'i' then pg_get_indexdef(c.oid) when c.relkind = 'v' then pg_get_viewdef(c.oid) end as means
          from pg_class c where c.relnamespace = ${schema}::regnamespace and c.relkind in ('r', 'i', 'v')
          order by c.relname`.execute(owner);
          const left = await sql`select nspname from pg_namespace where nspname ~ '_(beside|replaced)$'`.execute(owner);
          return { rows, left: left.rows };
        };
        const before = await shape();
        await rebuild();
        expect(await shape()).toEqual(before);
      },
      PART_TIMEOUT_MS,
    );
  });
};

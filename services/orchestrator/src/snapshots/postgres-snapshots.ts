import type { Snapshot, Snapshots } from '@fixpoint/event-store/snapshots';
import { type QueryExecutorProvider, sql } from 'kysely';
import type { Lineage } from '../domain/lineage/state.ts';

interface Row {
  readonly stream: string;
  readonly version: number;
  readonly event_hash: string;
  readonly state: Lineage;
}

/** @param foldVersion of the code that runs: rows of other code are left alone until they are overwritten. */
export const postgresSnapshots = (db: QueryExecutorProvider, foldVersion: string): Snapshots<Lineage> => ({
  load: async (streams) => {
    const { rows } = await sql<Row>`
      select stream, version, event_hash, state from orchestrator.snapshot
      where stream = any(${streams}) and fold_version = ${foldVersion}`.execute(db);
    return new Map(
      rows.map(({ stream, version, state, event_hash }): [string, Snapshot<Lineage>] => [
        stream,
        { version, state, eventHash: event_hash },
      ]),
    );
  },
  save: async (stream, { version, state, eventHash }) => {
    await sql`
      insert into orchestrator.snapshot as s (stream, version, event_hash, fold_version, state)
      values (${stream}, ${version}, ${eventHash}, ${foldVersion}, ${JSON.stringify(state)})
      on conflict (stream) do update set version = excluded.version, event_hash = excluded.event_hash,
        fold_version = excluded.fold_version, state = excluded.state, saved_at = now()
      where s.version < excluded.version or s.fold_version <> excluded.fold_version`.execute(db);
  },
});

import type { Cursor } from '@fixpoint/contracts/envelope';
import { type QueryExecutorProvider, sql } from 'kysely';

export interface CheckpointClaim {
  /** `<service>__<reader>` */
  readonly name: string;
  /** Names one process; two processes of one name would take the checkpoint from each other. */
  readonly owner: string;
  /** How long others wait for an owner that went silent, ms, by the database's clock. */
  readonly leaseMs: number;
}

/** A checkpoint that its owner alone may move, as long as nobody has claimed it since. */
export interface HeldCheckpoint {
  /** A number that grows with every claim. */
  readonly fence: string;
  readonly cursor: Cursor;
}

/** Claims a checkpoint that is free, over, or the owner's already; makes it where it is missing. @returns null when it is held */
export const claimCheckpoint = async (
  db: QueryExecutorProvider,
  { name, owner, leaseMs }: CheckpointClaim,
): Promise<HeldCheckpoint | null> => {
  const until = leaseUntil(leaseMs);
  const { rows } = await sql<Cursor & { fence: string }>`
    insert into store.checkpoint as c (name, epoch, xid, position, owner, fence, lease_until)
    values (${name}, 0, '0', 0, ${owner}, 1, ${until})
    on conflict (name) do update
    set owner = excluded.owner, fence = c.fence + 1, lease_until = excluded.lease_until
    where c.owner = excluded.owner or c.lease_until < clock_timestamp()
    returning epoch, xid, position, fence`.execute(db);
  const [row] = rows;
  if (row === undefined) return null;
  const { epoch, xid, position, fence } = row;
  return { fence, cursor: { epoch, xid, position } };
};

/** Moves a checkpoint and renews its lease. @returns false when somebody else has claimed it: then nothing was moved */
export const moveCheckpoint = async (
  db: QueryExecutorProvider,
  { name, leaseMs, fence }: Pick<CheckpointClaim, 'name' | 'leaseMs'> & Pick<HeldCheckpoint, 'fence'>,
  { epoch, xid, position }: Cursor,
): Promise<boolean> => {
  const moved = await sql`
    update store.checkpoint
    set epoch = ${epoch}, xid = ${xid}, position = ${position}, moved_at = clock_timestamp(),
      lease_until = ${leaseUntil(leaseMs)}
    where name = ${name} and fence = ${fence}`.execute(db);
  return moved.numAffectedRows === 1n;
};

/** Lets another process claim it at once. */
export const releaseCheckpoint = async (db: QueryExecutorProvider, name: string, fence: string): Promise<void> => {
  await sql`update store.checkpoint set lease_until = '-infinity' where name = ${name} and fence = ${fence}`.execute(
    db,
  );
};

const leaseUntil = (leaseMs: number) => sql`clock_timestamp() + ${leaseMs} * interval '1 millisecond'`;

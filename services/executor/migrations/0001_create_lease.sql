-- Private to the executor: who works on which run. The one table that is not rebuilt from the log: an owner that is gone
-- is told by its lease alone.

create schema executor;

create table executor.lease (
  stream text not null,
  phase text not null,
  owner text not null,
  expires_at timestamptz not null,
  primary key (stream, phase)
)
-- Few rows, renewed every second: room in the page keeps renewals HOT.
with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);
comment on table executor.lease is 'Leases of runs. Written by the executor; not rebuilt.';

grant usage on schema executor to fixpoint_executor;
grant select, insert, update, delete on executor.lease to fixpoint_executor;

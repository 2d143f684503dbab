-- Private to the decomposer: which process asks the council about which request. Not rebuilt from the log: a process that
-- is gone is told by its lease alone.

create schema decomposer;

create table decomposer.lease (
  stream text not null,
  phase text not null,
  owner text not null,
  expires_at timestamptz not null,
  primary key (stream, phase)
)
-- Few rows, renewed every second: room in the page keeps renewals HOT.
with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);
comment on table decomposer.lease is 'Leases of requests. Written by the decomposer; not rebuilt.';

grant usage on schema decomposer to fixpoint_decomposer;
grant select, insert, update, delete on decomposer.lease to fixpoint_decomposer;

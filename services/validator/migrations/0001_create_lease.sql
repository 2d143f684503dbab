-- Private to the validator: which process asks validators about which gate or result. Not rebuilt from the log: a process
-- that is gone is told by its lease alone.

create schema validator;

create table validator.lease (
  stream text not null,
  phase text not null,
  owner text not null,
  expires_at timestamptz not null,
  primary key (stream, phase)
)
-- Few rows, renewed every second: room in the page keeps renewals HOT.
with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);
comment on table validator.lease is 'Leases of gates and judgements. Written by the validator; not rebuilt.';

grant usage on schema validator to fixpoint_validator;
grant select, insert, update, delete on validator.lease to fixpoint_validator;

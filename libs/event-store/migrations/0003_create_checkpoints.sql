create table store.checkpoint (
  name text collate "C" primary key,
  epoch integer not null,
  xid xid8 not null,
  position bigint not null,
  owner text not null,
  fence bigint not null,
  lease_until timestamptz not null,
  moved_at timestamptz not null default now()
)
with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 20);
comment on table store.checkpoint is
  'How far each projection is, and who may move it. Written in the transaction that writes the projection; rebuilt with it.';

grant select, insert, update on store.checkpoint
  to fixpoint_orchestrator, fixpoint_validator, fixpoint_executor, fixpoint_decomposer, fixpoint_auditor;

create table store.epoch (
  epoch integer primary key check (epoch > 0),
  system_identifier text not null,
  timeline integer not null,
  began_at timestamptz not null default now(),
  began_by text not null,
  reason text not null,
  -- The newest event of the epochs before, noughts where there was none; null for the first one.
  after_epoch integer,
  after_xid xid8,
  after_position bigint
);
comment on table store.epoch is
  'Every server that the log has lived on, in order. Written at creation and by `fixpoint store new-epoch`; never changed.';

insert into store.epoch (epoch, system_identifier, timeline, began_by, reason)
select epoch, system_identifier, timeline, session_user, 'first migration' from store.identity;

grant select on store.epoch
  to fixpoint_orchestrator, fixpoint_validator, fixpoint_executor, fixpoint_decomposer, fixpoint_auditor;

create table orchestrator.provider (
  provider text collate "C" primary key,
  version integer not null check (version > 0),
  event text collate "C" not null,
  status text collate "C" not null check (status ~ '^[a-z_]+$'),
  paused_until timestamptz,
  probe_root text collate "C",
  probe_task text collate "C",
  probe_run integer,
  since timestamptz not null,
  check ((probe_root is null) = (probe_task is null) and (probe_root is null) = (probe_run is null))
);
comment on table orchestrator.provider is
  'Models and hosts that were ever paused, and how they stand. No `paused_until` while paused: a human has it. Rebuilt from the log.';

grant select, insert, update, delete on orchestrator.provider to fixpoint_orchestrator;

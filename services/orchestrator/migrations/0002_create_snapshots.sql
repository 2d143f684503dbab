create table orchestrator.snapshot (
  stream text collate "C" primary key,
  version integer not null check (version > 0),
  event_hash text not null,
  fold_version text not null,
  state json not null,
  saved_at timestamptz not null default now()
)
with (fillfactor = 70);
comment on table orchestrator.snapshot is
  'Folded states of long lineages, a shorter way to what the log says. Written by the orchestrator; may be emptied at any time.';

grant select, insert, update, delete on orchestrator.snapshot to fixpoint_orchestrator;

-- What lineages wait for. Written by the orchestrator alone, from the log; every row can be rebuilt.

create schema orchestrator;

create table orchestrator.waiting (
  root text collate "C" not null,
  task text collate "C" not null,
  kind text not null check (kind in ('gate', 'action', 'judge', 'decide', 'council', 'fix', 'timer', 'human')),
  run integer not null,
  started boolean not null,
  stream text,
  version integer check (version > 0),
  ready_version integer check (ready_version > 0),
  since timestamptz not null,
  last_offer timestamptz not null,
  reoffers integer not null,
  next_at timestamptz,
  primary key (root, task),
  check ((stream is null) = (version is null))
)
with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
comment on table orchestrator.waiting is
  'One row per open task: what it waits for and when the healer looks at it next. Rebuilt from the log.';
create index waiting_due on orchestrator.waiting (next_at) where next_at is not null;

create table orchestrator.timer (
  id text collate "C" primary key,
  root text collate "C" not null,
  kind text not null check (kind in ('retry', 'request', 'deadline')),
  task text collate "C" not null,
  number integer not null,
  due_at timestamptz not null,
  next_at timestamptz not null
)
with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
comment on table orchestrator.timer is
  'Timers that have not rung, claimed on the clock of the database. Rebuilt from the log.';
create index timer_due on orchestrator.timer (next_at);
create index timer_by_root on orchestrator.timer (root);

grant usage on schema orchestrator to fixpoint_orchestrator;
grant select, insert, update, delete on orchestrator.waiting, orchestrator.timer to fixpoint_orchestrator;

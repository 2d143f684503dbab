alter table orchestrator.waiting drop constraint waiting_kind_check;
alter table orchestrator.waiting add constraint waiting_kind_check check (
  kind in ('gate', 'action', 'judge', 'decide', 'council', 'integrate', 'fix', 'epic', 'timer', 'human', 'queue'));
alter table orchestrator.waiting add column project text collate "C" not null default '';

create table orchestrator.queued (
  root text collate "C" not null,
  task text collate "C" not null,
  run integer not null check (run > 0),
  unit text collate "C" not null,
  project text collate "C" not null,
  class text collate "C" not null check (class in ('high', 'normal', 'low')),
  affinity integer not null,
  key text collate "C",
  key_limit integer check (key_limit > 0),
  providers text[] not null,
  queued_for text not null,
  since timestamptz not null,
  next_at timestamptz not null,
  primary key (root, task),
  check ((key is null) = (key_limit is null))
)
with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
comment on table orchestrator.queued is
  'Runs that wait for their turn. `next_at`: not before, on the clock of the database. Rebuilt from the log.';
create index queued_in_order on orchestrator.queued (class, project, affinity desc, since, root, task);

create table orchestrator.slot (
  key text collate "C" not null,
  number integer not null check (number > 0),
  root text collate "C" not null,
  task text collate "C" not null,
  run integer not null,
  taken_at timestamptz not null default clock_timestamp(),
  primary key (key, number),
  unique (root, task, run)
);
comment on table orchestrator.slot is
  'Who holds which slot of a concurrency key. A lease, not a projection: held until the log shows that the run is over.';

create table orchestrator.turn (
  project text collate "C" primary key,
  number integer not null
);
comment on table orchestrator.turn is
  'Number of the last queued start of each project, and with no name of all: what keeps the queue fair. May be emptied.';

grant select, insert, update, delete on orchestrator.queued, orchestrator.slot, orchestrator.turn to fixpoint_orchestrator;

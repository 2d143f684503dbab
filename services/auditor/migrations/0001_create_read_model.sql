-- The auditor's read model. Written by the auditor alone, from the log; every table can be rebuilt.

create schema audit;

-- Times are ISO 8601 in UTC with milliseconds, as events carry them: as texts they sort as times.

create table audit.lineage (
  lineage text collate "C" primary key,
  project text collate "C" not null,
  mode text not null,
  name text not null,
  goal text not null,
  labels json not null,
  status text not null check (status in ('running', 'completed', 'degraded', 'blocked', 'human')),
  halt_type text,
  raw_halt_type text,
  depth integer not null,
  fix_attempts integer not null,
  runs integer not null,
  events integer not null,
  rung text not null,
  protocol_name text not null,
  protocol_version integer not null,
  started_at text collate "C" not null,
  ended_at text collate "C",
  deadline_at text collate "C" not null,
  cursor text not null
)
with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
comment on table audit.lineage is 'One row per lineage. Written by the auditor; rebuilt from the log.';
create index lineage_newest on audit.lineage (started_at desc, lineage desc);
create index lineage_by_project on audit.lineage (project, started_at desc, lineage desc);
create index lineage_by_status on audit.lineage (status, started_at desc, lineage desc);

create table audit.task (
  task text collate "C" primary key,
  lineage text collate "C" not null,
  address text not null,
  parent text,
  kind text not null check (kind in ('root', 'fix')),
  project text collate "C" not null,
  name text not null,
  goal text not null,
  status text not null
    check (status in ('running', 'completed', 'degraded', 'blocked', 'human', 'exhausted', 'stalled')),
  halt_type text,
  raw_halt_type text,
  rung text not null,
  depth integer not null,
  fix_attempts integer not null,
  runs integer not null,
  nodes integer not null,
  node text,
  triggering_validators json not null,
  started_at text collate "C" not null,
  ended_at text collate "C",
  cursor text not null
)
with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
comment on table audit.task is 'One row per task. Written by the auditor; rebuilt from the log.';
create index task_newest on audit.task (started_at desc, task desc);
create index task_by_lineage on audit.task (lineage, started_at desc, task desc);
create index task_by_project on audit.task (project, started_at desc, task desc);
create index task_by_status on audit.task (status, started_at desc, task desc);

create table audit.run (
  task text collate "C" not null,
  run integer not null check (run > 0),
  lineage text collate "C" not null,
  address text not null,
  project text collate "C" not null,
  kind text not null,
  purpose text not null,
  node text not null,
  state text not null,
  outcome text,
  rung text not null,
  exit_code integer,
  tools integer not null,
  duration_ms double precision,
  detail text not null,
  judgement text,
  verdicts json not null,
  halt_type text,
  raw_halt_type text,
  started_at text collate "C" not null,
  ended_at text collate "C",
  cursor text not null,
  primary key (task, run)
)
with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
comment on table audit.run is 'One row per run of a node. Written by the auditor; rebuilt from the log.';
create index run_newest on audit.run (started_at desc, task desc, run desc);
create index run_by_lineage on audit.run (lineage, started_at desc, task desc, run desc);
create index run_by_project on audit.run (project, started_at desc, task desc, run desc);

create table audit.event (
  epoch integer not null,
  xid xid8 not null,
  position bigint not null,
  lineage text collate "C" not null,
  project text collate "C",
  task text collate "C",
  run integer,
  type text collate "C" not null,
  status text,
  primary key (epoch, xid, position)
)
with (autovacuum_vacuum_insert_scale_factor = 0.1);
comment on table audit.event is
  'What each event of the log can be found by. Written by the auditor; rebuilt from the log, which keeps the event.';
create index event_by_lineage on audit.event (lineage, epoch, xid, position);
create index event_by_project on audit.event (project, epoch, xid, position);
create index event_by_type on audit.event (type, epoch, xid, position);

create table audit.protocol_mode (
  project text collate "C" not null,
  version integer not null check (version > 0),
  mode text not null,
  name text not null,
  max_recovery_depth integer not null,
  max_total_fix_attempts integer not null,
  primary key (project, name, version, mode)
);
comment on table audit.protocol_mode is
  'Bounds of each mode of each published protocol. Written by the auditor; rebuilt from the log.';

-- The built-in protocol has no event. A version of it never changes.
insert into audit.protocol_mode values ('', 1, 'build', 'default', 3, 10);

create view audit.lineages as
select l.*, l.started_at::timestamptz as started, l.ended_at::timestamptz as ended, p.max_total_fix_attempts,
  greatest(p.max_total_fix_attempts - l.fix_attempts, 0) as fix_attempts_left
from audit.lineage l
left join lateral (
  select m.max_total_fix_attempts from audit.protocol_mode m
  where m.project in (l.project, '') and m.name = l.protocol_name and m.version = l.protocol_version
    and m.mode = l.mode
  order by m.project desc limit 1
) p on true;

create view audit.tasks as
select *, started_at::timestamptz as started, ended_at::timestamptz as ended from audit.task;

create view audit.runs as
select *, started_at::timestamptz as started, ended_at::timestamptz as ended from audit.run;

create view audit.events as
select a.epoch, a.xid, a.position, a.lineage, a.project, a.task, a.run, a.type, a.status, e.id, e.stream, e.version,
  e.schema_version, e.occurred_at, e.metadata, e.data, encode(e.hash, 'hex') as hash
from audit.event a join store.event e using (epoch, xid, position);

grant usage on schema audit to fixpoint_auditor;
grant select, insert, update, delete on audit.lineage, audit.task, audit.run, audit.event, audit.protocol_mode
  to fixpoint_auditor;
grant select on audit.lineages, audit.tasks, audit.runs, audit.events to fixpoint_auditor;

-- Children, epics and what was spent. Rows from before show none of it until they are rebuilt.

alter table audit.lineage
  drop constraint lineage_status_check,
  add constraint lineage_status_check
    check (status in ('running', 'completed', 'degraded', 'blocked', 'cancelled', 'abandoned', 'human')),
  add column children integer not null default 0,
  add column split_depth integer not null default 0,
  add column open_handoffs integer not null default 0,
  add column money_micros bigint not null default 0,
  add column tokens bigint not null default 0,
  add column units json not null default '{}';

alter table audit.task
  drop constraint task_kind_check,
  add constraint task_kind_check check (kind in ('root', 'child', 'fix')),
  drop constraint task_status_check,
  add constraint task_status_check
    check (status in ('running', 'superseded', 'cancelled', 'abandoned', 'completed', 'degraded', 'blocked', 'human',
      'exhausted', 'stalled')),
  add column epic text,
  add column split_depth integer not null default 0,
  add column affinity integer not null default 0;

create table audit.epic (
  epic text collate "C" primary key,
  lineage text collate "C" not null,
  task text collate "C" not null,
  address text not null,
  kind text not null,
  closes_by text not null,
  status text not null check (status in ('open', 'recomposing', 'closed')),
  children json not null,
  open_children integer not null,
  attempts integer not null,
  next_at text collate "C",
  split_depth integer not null,
  opened_at text collate "C" not null,
  closed_at text collate "C",
  cursor text not null
)
with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
comment on table audit.epic is 'One row per split. Written by the auditor; rebuilt from the log.';
create index epic_newest on audit.epic (opened_at desc, epic desc);
create index epic_by_lineage on audit.epic (lineage, opened_at desc, epic desc);
create index epic_by_status on audit.epic (status, opened_at desc, epic desc);

alter table audit.protocol_mode add column max_total_decomposition_children integer;
update audit.protocol_mode set max_total_decomposition_children = 8 where project = '';

drop view audit.lineages;
create view audit.lineages as
select l.*, l.started_at::timestamptz as started, l.ended_at::timestamptz as ended, p.max_total_fix_attempts,
  greatest(p.max_total_fix_attempts - l.fix_attempts, 0) as fix_attempts_left,
  greatest(p.max_total_decomposition_children - l.children, 0) as children_left
from audit.lineage l
left join lateral (
  select m.max_total_fix_attempts, m.max_total_decomposition_children from audit.protocol_mode m
  where m.project in (l.project, '') and m.name = l.protocol_name and m.version = l.protocol_version
    and m.mode = l.mode
  order by m.project desc limit 1
) p on true;

drop view audit.tasks;
create view audit.tasks as
select *, started_at::timestamptz as started, ended_at::timestamptz as ended from audit.task;

create view audit.epics as
select *, opened_at::timestamptz as opened, closed_at::timestamptz as closed from audit.epic;

grant select, insert, update, delete on audit.epic to fixpoint_auditor;
grant select on audit.lineages, audit.tasks, audit.epics to fixpoint_auditor;

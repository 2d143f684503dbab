create table audit.dead_letter (
  letter text collate "C" primary key,
  status text not null check (status in ('parked', 'replayed', 'discarded')),
  service text not null,
  reader text collate "C" not null,
  event_id text not null,
  event_type text not null,
  event_version integer not null,
  lineage text collate "C",
  task text,
  run integer,
  deliveries integer not null,
  replays integer not null,
  reason text not null,
  actor text,
  discarded_because text,
  parked_at text collate "C" not null,
  changed_at text collate "C" not null,
  cursor text not null
);
comment on table audit.dead_letter is
  'One row per event that a reader gave up. Written by the auditor; rebuilt from the log.';
create index dead_letter_newest on audit.dead_letter (parked_at desc, letter desc);
create index dead_letter_by_status on audit.dead_letter (status, parked_at desc, letter desc);
create index dead_letter_by_lineage on audit.dead_letter (lineage, parked_at desc, letter desc);

create view audit.dead_letters as
select *, parked_at::timestamptz as parked, changed_at::timestamptz as changed from audit.dead_letter;

grant select, insert, update, delete on audit.dead_letter to fixpoint_auditor;
grant select on audit.dead_letters to fixpoint_auditor;

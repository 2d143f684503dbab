create table audit.provider (
  provider text collate "C" primary key,
  status text not null check (status in ('open', 'paused', 'probing', 'human')),
  class text not null,
  detail text not null,
  reason text,
  count integer not null,
  since text collate "C",
  paused_until text collate "C",
  probe json,
  asked_by text,
  seen_at text collate "C" not null,
  changed_at text collate "C" not null,
  cursor text not null
);
comment on table audit.provider is
  'One row per model or host that a run met a fault of. Written by the auditor; rebuilt from the log.';

create view audit.providers as
select *, seen_at::timestamptz as seen, changed_at::timestamptz as changed from audit.provider;

grant select, insert, update, delete on audit.provider to fixpoint_auditor;
grant select on audit.providers to fixpoint_auditor;

-- What humans are asked for. Handoffs from before are shown once the read model is rebuilt.

create table audit.handoff (
  handoff text collate "C" primary key,
  lineage text collate "C" not null,
  task text collate "C" not null,
  address text not null,
  status text not null check (status in ('open', 'decided', 'expired', 'withdrawn')),
  version integer not null,
  help text not null,
  stage text not null,
  halt_type text not null,
  raw_halt_type text not null,
  detail text not null,
  causes json not null,
  slice_task text not null,
  node text,
  run integer,
  goal text not null,
  runs integer not null,
  fix_attempts integer not null,
  money_micros bigint,
  tokens bigint,
  duration_ms double precision,
  decisions json not null,
  claimed_by text,
  claimed_until text collate "C",
  warned integer not null,
  expires_at text collate "C" not null,
  on_expiry text not null,
  expired_at text collate "C",
  decision text,
  closed_by text,
  opened_at text collate "C" not null,
  closed_at text collate "C",
  cursor text not null
)
with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
comment on table audit.handoff is 'One row per request to a human. Written by the auditor; rebuilt from the log.';
create index handoff_newest on audit.handoff (opened_at desc, handoff desc);
create index handoff_by_status on audit.handoff (status, opened_at desc, handoff desc);
create index handoff_by_lineage on audit.handoff (lineage, opened_at desc, handoff desc);

create view audit.handoffs as
select h.*, l.project, h.opened_at::timestamptz as opened, h.closed_at::timestamptz as closed,
  h.status = 'open' and coalesce(h.claimed_until::timestamptz > now(), false) as claimed
from audit.handoff h join audit.lineage l on l.lineage = h.lineage;

grant select, insert, update, delete on audit.handoff to fixpoint_auditor;
grant select on audit.handoffs to fixpoint_auditor;

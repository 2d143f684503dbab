-- Private to the executor: what workers elsewhere may take, and what they brought. A row lives as long as somebody may
-- still ask about it; what counts for good is in the log.

create table executor.job (
  id text primary key,
  work_key text not null,
  queue text not null,
  stream text not null,
  owner text not null,
  owned_until timestamptz not null,
  root text not null,
  task text not null,
  run integer not null,
  request text not null,
  workspace text,
  deadline timestamptz not null,
  status text not null default 'offered' check (status in ('offered', 'leased', 'settled', 'closed')),
  epoch integer not null default 0,
  holder text,
  worker text,
  lease_ms integer,
  expires_at timestamptz,
  progress text,
  parts text[] not null default '{}',
  settlement text,
  closed_because text,
  offered_at timestamptz not null default clock_timestamp(),
  closed_at timestamptz
);
create unique index job_work on executor.job (work_key) where status <> 'closed';
create index job_offered on executor.job (queue, offered_at) where status = 'offered';
create index job_ended on executor.job (closed_at) where status = 'closed';
comment on table executor.job is 'Jobs of workers. Written by the executor; not rebuilt.';

grant select, insert, update, delete on executor.job to fixpoint_executor;

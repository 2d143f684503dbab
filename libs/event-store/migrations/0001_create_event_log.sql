-- The log of facts. Roles (fixpoint_owner and one per service) exist before the first migration runs.

create table store.identity (
  only_row boolean primary key default true check (only_row),
  epoch integer not null check (epoch > 0),
  system_identifier text not null,
  timeline integer not null
);
comment on table store.identity is
  'The server this database lives on. Written at creation and by a new epoch; cursors of another server mean nothing here.';

insert into store.identity (epoch, system_identifier, timeline)
select 1, system_identifier::text, ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::integer
from pg_control_system();

create table store.event_type (
  type text collate "C" not null check (type ~ '^[a-z][a-z0-9_]*$'),
  owner text collate "C" not null check (owner ~ '^[a-z]+$'),
  primary key (type, owner)
);
comment on table store.event_type is 'Who may append which type. Written by the migration job from contracts.';

create table store.stream_head (
  stream text collate "C" primary key,
  version integer not null check (version > 0),
  decided_on integer not null check (decided_on >= 0 and decided_on < version)
)
-- Rows change at every append: room for HOT updates, no index on what changes, early vacuum.
with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
comment on table store.stream_head is
  'Version of each stream: decides which of two writers wins. Written by every append; can be rebuilt from the log.';

create table store.event (
  epoch integer not null,
  xid xid8 not null default pg_current_xact_id(),
  position bigint not null generated always as identity,
  stream text collate "C" not null check (length(stream) between 1 and 300),
  version integer not null check (version > 0),
  root text collate "C" not null,
  shard smallint not null check (shard between 0 and 255),
  type text collate "C" not null,
  schema_version smallint not null check (schema_version > 0),
  id uuid not null,
  occurred_at text collate "C" not null,
  recorded_at timestamptz not null default now(),
  bytes integer not null check (bytes between 0 and 65536),
  metadata json not null,
  data json not null,
  hash bytea not null check (length(hash) = 32),
  constraint event_cursor primary key (epoch, xid, position),
  constraint event_stream_version unique (stream, version),
  constraint event_id unique (id)
)
with (autovacuum_vacuum_insert_scale_factor = 0.05);
comment on table store.event is
  'The truth: append-only. Written by the services; hash covers the stored texts, nothing reads inside data.';

create function store.refuse_change() returns trigger
language plpgsql
set search_path = ''
as $$
begin
  raise exception 'store.event is append-only: % refused', tg_op using errcode = 'restrict_violation';
end
$$;

create trigger event_is_append_only
before update or delete or truncate on store.event
for each statement execute function store.refuse_change();

-- Fires in replica sessions too, where ordinary triggers sleep.
alter table store.event enable always trigger event_is_append_only;

alter table store.event enable row level security;

create policy readers on store.event for select using (true);

create policy orchestrator_appends on store.event for insert to fixpoint_orchestrator
with check (
  type in (select t.type from store.event_type t where t.owner = 'orchestrator')
  and (not starts_with(stream, 'action-') or type = 'run_revoked')
);

create policy validator_appends on store.event for insert to fixpoint_validator
with check (
  type in (select t.type from store.event_type t where t.owner = 'validator') and not starts_with(stream, 'action-')
);

create policy executor_appends on store.event for insert to fixpoint_executor
with check (type in (select t.type from store.event_type t where t.owner = 'executor'));

create policy decomposer_appends on store.event for insert to fixpoint_decomposer
with check (
  type in (select t.type from store.event_type t where t.owner = 'decomposer') and not starts_with(stream, 'action-')
);

create policy auditor_appends on store.event for insert to fixpoint_auditor
with check (
  type in (select t.type from store.event_type t where t.owner = 'auditor') and not starts_with(stream, 'action-')
);

grant usage on schema store
  to fixpoint_orchestrator, fixpoint_validator, fixpoint_executor, fixpoint_decomposer, fixpoint_auditor;
grant select on store.identity, store.event_type, store.migration
  to fixpoint_orchestrator, fixpoint_validator, fixpoint_executor, fixpoint_decomposer, fixpoint_auditor;
grant select, insert, update on store.stream_head
  to fixpoint_orchestrator, fixpoint_validator, fixpoint_executor, fixpoint_decomposer, fixpoint_auditor;
grant select, insert on store.event
  to fixpoint_orchestrator, fixpoint_validator, fixpoint_executor, fixpoint_decomposer, fixpoint_auditor;

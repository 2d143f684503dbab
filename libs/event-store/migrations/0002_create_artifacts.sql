create table store.artifact (
  hash bytea primary key check (length(hash) = 32),
  bytes bigint not null check (bytes >= 0),
  upload uuid not null unique,
  key_id text,
  created_at timestamptz not null default now()
);
comment on table store.artifact is
  'Blobs by the sha256 of their content. key_id names the key its chunks are encrypted with; null: not encrypted.';

create table store.artifact_chunk (
  upload uuid not null,
  index integer not null check (index >= 0),
  encoding text not null check (encoding in ('identity', 'zstd')),
  body bytea not null,
  created_at timestamptz not null default now(),
  primary key (upload, index)
);
comment on table store.artifact_chunk is
  'At most 1 MiB of an artifact each, before compression. An upload that no artifact names is unfinished or given up.';

-- Compressed by the writer: the server would only try again.
alter table store.artifact_chunk alter column body set storage external;

grant select, insert on store.artifact
  to fixpoint_orchestrator, fixpoint_validator, fixpoint_executor, fixpoint_decomposer, fixpoint_auditor;
grant select, insert, delete on store.artifact_chunk
  to fixpoint_orchestrator, fixpoint_validator, fixpoint_executor, fixpoint_decomposer, fixpoint_auditor;

-- A chunk may be removed as long as no artifact is made of it.
alter table store.artifact_chunk enable row level security;
create policy readers on store.artifact_chunk for select using (true);
create policy uploaders on store.artifact_chunk for insert with check (true);
create policy unfinished on store.artifact_chunk for delete
using (not exists (select from store.artifact a where a.upload = artifact_chunk.upload));

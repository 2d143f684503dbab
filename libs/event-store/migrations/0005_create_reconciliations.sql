create table store.reconciliation (
  projection text collate "C" primary key,
  due_at timestamptz not null,
  started_at timestamptz,
  finished_at timestamptz,
  events bigint,
  rows bigint,
  differing bigint,
  differences json
);
comment on table store.reconciliation is
  'When each projection is compared with the log next, and what the last comparison found. Written by whoever compared; can be lost.';

grant select, insert, update on store.reconciliation
  to fixpoint_orchestrator, fixpoint_validator, fixpoint_executor, fixpoint_decomposer, fixpoint_auditor;

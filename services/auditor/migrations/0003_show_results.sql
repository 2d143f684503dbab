-- What a task came to, and the nodes that it passed over. Rows from before show none of it until they are rebuilt.

alter table audit.task
  add column skipped json not null default '[]',
  add column output text,
  add column output_artifact text;

drop view audit.tasks;
create view audit.tasks as
select *, started_at::timestamptz as started, ended_at::timestamptz as ended from audit.task;
grant select on audit.tasks to fixpoint_auditor;

-- Providers that wait for a human are handoffs, too: of no lineage and project, and without an end.
-- And how many runs a lineage had used by a handoff. Rows from before show it when they are rebuilt.

alter table audit.handoff
  add column lineage_runs integer,
  alter column expires_at drop not null;

drop view audit.handoffs;
create view audit.handoffs as
select h.*, coalesce(l.project, '') as project, h.opened_at::timestamptz as opened, h.closed_at::timestamptz as closed,
  h.status = 'open' and coalesce(h.claimed_until::timestamptz > now(), false) as claimed
from audit.handoff h left join audit.lineage l on l.lineage = h.lineage
where l.lineage is not null or h.lineage like 'provider-%';

grant select on audit.handoffs to fixpoint_auditor;

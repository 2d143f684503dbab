-- A service advances the heads of its own streams only: a head that somebody else moved would stop its stream for good.
-- Dead letters are everybody's. The orchestrator may begin the action stream of a run that it gives up, and never go on
-- with one. See docs/adr/0014-heads-belong-to-services.md.

alter table store.stream_head enable row level security;

create policy readers on store.stream_head for select using (true);

-- Said once for the role of a process that holds all services: a constant costs its appends nothing.
create policy all_services_begin on store.stream_head for insert to fixpoint_embedded with check (true);
create policy all_services_advance on store.stream_head for update to fixpoint_embedded using (true);

create policy orchestrator_begins on store.stream_head for insert to fixpoint_orchestrator
with check (split_part(stream, '-', 1) <> all ('{gate,verdicts,council,audit}'));
create policy orchestrator_advances on store.stream_head for update to fixpoint_orchestrator
using (split_part(stream, '-', 1) <> all ('{gate,verdicts,council,audit,action}'));

create policy validator_begins on store.stream_head for insert to fixpoint_validator
with check (split_part(stream, '-', 1) <> all ('{lineage,protocol,provider,council,audit,action}'));
create policy validator_advances on store.stream_head for update to fixpoint_validator
using (split_part(stream, '-', 1) <> all ('{lineage,protocol,provider,council,audit,action}'));

create policy executor_begins on store.stream_head for insert to fixpoint_executor
with check (split_part(stream, '-', 1) <> all ('{lineage,protocol,provider,gate,verdicts,council,audit}'));
create policy executor_advances on store.stream_head for update to fixpoint_executor
using (split_part(stream, '-', 1) <> all ('{lineage,protocol,provider,gate,verdicts,council,audit}'));

create policy decomposer_begins on store.stream_head for insert to fixpoint_decomposer
with check (split_part(stream, '-', 1) <> all ('{lineage,protocol,provider,gate,verdicts,audit,action}'));
create policy decomposer_advances on store.stream_head for update to fixpoint_decomposer
using (split_part(stream, '-', 1) <> all ('{lineage,protocol,provider,gate,verdicts,audit,action}'));

create policy auditor_begins on store.stream_head for insert to fixpoint_auditor
with check (split_part(stream, '-', 1) <> all ('{lineage,protocol,provider,gate,verdicts,council,action}'));
create policy auditor_advances on store.stream_head for update to fixpoint_auditor
using (split_part(stream, '-', 1) <> all ('{lineage,protocol,provider,gate,verdicts,council,action}'));

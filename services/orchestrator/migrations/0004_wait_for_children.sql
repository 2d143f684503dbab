-- The kinds of waits and timers are the code's: a list of them here would have to be changed with every new one.
alter table orchestrator.waiting drop constraint if exists waiting_kind_check;
alter table orchestrator.waiting add constraint waiting_kind_check check (kind ~ '^[a-z_]+$');
alter table orchestrator.timer drop constraint if exists timer_kind_check;
alter table orchestrator.timer add constraint timer_kind_check check (kind ~ '^[a-z_]+$');

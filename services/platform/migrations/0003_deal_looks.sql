-- A server that restarts may forget its last deals, so the deal of an applied operation is looked for again; next_look_at
-- says when.
alter table operation add column looks smallint not null default 0 check (looks between 0 and 3);
-- What is older was looked at by nobody, and its window is over.
update operation set looks = 3 where applied_at < clock_timestamp() - interval '1 day';
create index operation_to_verify on operation (next_look_at) where state = 'APPLIED' and looks < 3;
-- For what a piece of the history should show of operations that are in no log yet.
create index operation_of_time on operation (login, applied_at) where deal_id is not null;

-- A deal under one of our references that no operation has: whoever follows the login stops there.
alter table log_entry
  drop constraint log_entry_irregularity_check,
  add constraint log_entry_irregularity_check
    check (irregularity in ('deal_gone', 'deal_changed', 'deal_cancelled', 'deal_surplus'));

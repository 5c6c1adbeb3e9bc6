-- What callers see of this service has another state. Triggers note it in the transaction of the change, whichever statement or version
-- of the service makes it; two changes of one row have ids in their order. A read of the feed of states moves the rows there.
create table state_change (
  id           bigint generated always as identity primary key,
  -- deposit, withdrawal, subscription, mirror, exit, fee, break or review.
  kind         text not null check (kind <> ''),
  -- As the routes show it.
  state        text not null check (state <> ''),
  -- Id of what has changed, as the routes show it.
  subject      text not null check (subject <> ''),
  noted_at     timestamptz not null default clock_timestamp(),
  -- The account that it is about.
  login        text not null default '',
  master_login text not null default '',
  operation_id text not null default '',
  amount_minor bigint,
  deal_id      bigint not null default 0,
  -- Code of a refusal, check or review.
  reason       text not null default ''
);

create function note_break() returns trigger language plpgsql set search_path from current as $$
begin
  insert into state_change (kind, state, subject, login, master_login, amount_minor, reason)
  values ('break', case when new.closed_at is null then 'open' else 'closed' end, tg_table_schema || '-' || new.id,
          new.login, new.master_login, new.at_risk_minor, new.check_name);
  return null;
end
$$;

create or replace trigger note_insert after insert on reconciliation_break for each row
  when (new.opened_at is not null) execute function note_break();
create or replace trigger note_update after update on reconciliation_break for each row
  when ((old.opened_at is null and new.opened_at is not null) or (old.closed_at is null and new.closed_at is not null))
  execute function note_break();

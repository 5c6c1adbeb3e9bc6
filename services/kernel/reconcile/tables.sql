-- The checks of a service, and the breaks that they found.
create table reconciliation_check (
  name           text primary key check (name <> ''),
  title          text not null,
  every_ms       bigint not null check (every_ms > 0),
  -- When the check was added: its age counts from here until its first complete run.
  known_at       timestamptz not null default clock_timestamp(),
  started_at     timestamptz,
  completed_at   timestamptz,
  -- When the last complete run began: it has seen everything that was committed before.
  completed_from timestamptz,
  -- When a check that reads a part in each run last completed a pass through everything, when that pass and the present one began,
  -- and where the next run continues.
  full_pass_at   timestamptz,
  full_pass_from timestamptz,
  pass_from      timestamptz,
  cursor         text not null default '',
  -- Why the last run was not complete.
  error          text not null default ''
);

-- A break is opened when its check has confirmed it in enough runs in a row, and closed by a run that does not find it.
create table reconciliation_break (
  id            bigint generated always as identity primary key,
  check_name    text not null references reconciliation_check,
  key           text not null check (key <> ''),
  confirmations integer not null default 1 check (confirmations > 0),
  opened_at     timestamptz,
  seen_at       timestamptz not null,
  closed_at     timestamptz check (closed_at is null or opened_at is not null),
  login         text not null,
  master_login  text not null,
  at_risk_minor bigint not null check (at_risk_minor >= 0),
  operation_ids text[] not null,
  deal_ids      bigint[] not null,
  message       text not null,
  evidence      jsonb not null
);

create unique index reconciliation_break_one on reconciliation_break (check_name, key) where closed_at is null;
create index reconciliation_break_open on reconciliation_break (id) where closed_at is null;

-- A break that is opened or closed is a state that callers see.
create function note_break() returns trigger language plpgsql set search_path from current as $$
begin
  insert into state_change (kind, state, subject, login, master_login, amount_minor, reason)
  values ('break', case when new.closed_at is null then 'open' else 'closed' end, tg_table_schema || '-' || new.id,
          new.login, new.master_login, new.at_risk_minor, new.check_name);
  return null;
end
$$;

create trigger note_insert after insert on reconciliation_break for each row
  when (new.opened_at is not null) execute function note_break();
create trigger note_update after update on reconciliation_break for each row
  when ((old.opened_at is null and new.opened_at is not null) or (old.closed_at is null and new.closed_at is not null))
  execute function note_break();

-- Forward only: once applied, this file must not change. Rules: CONTRIBUTING.md, "A new migration".

-- The saga that gives a Master another payment account. Recorded before the account is taken over on the trading platform; fee decides whether it
-- is possible and is changed first, then the Master.
create table payment_account_change (
  id           bigint generated always as identity primary key,
  -- The command; empty when the caller sent no id.
  command_id   text not null,
  master_id    bigint not null references master,
  from_login   text not null,
  to_login     text not null check (to_login <> from_login),
  -- PENDING: nothing has changed yet. ASKED: fee may pay to the new account, and only its answer ends the change.
  state        text not null check (state in ('PENDING', 'ASKED', 'DONE', 'REFUSED')),
  refusal      jsonb,
  requested_at timestamptz not null,
  ended_at     timestamptz,
  next_try_at  timestamptz not null,
  tries        integer not null default 0 check (tries >= 0),
  -- Why the last try has failed.
  reason       text,
  check ((state in ('PENDING', 'ASKED')) = (ended_at is null)),
  check ((state = 'REFUSED') = (refusal is not null))
);

create unique index payment_account_change_one_open on payment_account_change (master_id) where state in ('PENDING', 'ASKED');
create unique index payment_account_change_one_login on payment_account_change (to_login) where state in ('PENDING', 'ASKED');
create unique index payment_account_change_of_command on payment_account_change (command_id)
  where state <> 'REFUSED' and command_id <> '';
create index payment_account_change_due on payment_account_change (next_try_at) where state in ('PENDING', 'ASKED');
-- Former payment accounts belong to their Master for ever.
create index payment_account_change_from on payment_account_change (from_login) where state = 'DONE';
create index payment_account_change_to on payment_account_change (to_login);

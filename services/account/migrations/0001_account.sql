-- Which accounts of the trading platform are Masters, payment accounts and Investors, and what is known of their owners.

-- One login has one role: the first registration wins.
create table account (
  login text primary key check (login ~ '^[0-9]{1,20}$'),
  kind  text not null check (kind in ('MASTER', 'PAYMENT', 'INVESTOR')),
  unique (login, kind)
);
select append_only('account');

-- A trader whose account Investors follow, with the account that its fees are paid to.
create table master (
  id                  bigint generated always as identity primary key,
  login               text not null unique,
  kind                text not null default 'MASTER' check (kind = 'MASTER'),
  payment_login       text not null unique,
  payment_kind        text not null default 'PAYMENT' check (payment_kind = 'PAYMENT'),
  name                text not null check (name <> ''),
  strategy_name       text,
  strategy            text,
  min_deposit_minor   bigint not null check (min_deposit_minor >= 0),
  currency            text not null default 'USD' check (currency = 'USD'),
  -- False: assignments to the Master are refused.
  accepting_investors boolean not null default true,
  -- When that was changed last, or the Master was registered.
  accepting_since     timestamptz not null,
  created_at          timestamptz not null,
  -- The command that registered it: a repeated command is answered with this row. Null when the caller sent no id.
  command_id          text unique check (command_id <> ''),
  foreign key (login, kind) references account (login, kind),
  foreign key (payment_login, payment_kind) references account (login, kind)
);

create index master_by_name on master (lower(name));
create index master_by_creation on master (created_at);

-- An owner of capital that follows Masters.
create table investor (
  id         bigint generated always as identity primary key,
  login      text not null unique,
  kind       text not null default 'INVESTOR' check (kind = 'INVESTOR'),
  name       text not null check (name <> ''),
  created_at timestamptz not null,
  -- As in master.
  command_id text unique check (command_id <> ''),
  foreign key (login, kind) references account (login, kind)
);

create index investor_by_name on investor (lower(name));
create index investor_by_creation on investor (created_at);

-- The name of an Investor is the one thing of its row that changes, and only by a function of the owner below.
create function keep_investor() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and to_jsonb(new) - 'name' = to_jsonb(old) - 'name'
    and current_user = (select pg_get_userbyid(relowner) from pg_class where oid = tg_relid) then
    return new;
  end if;
  raise exception 'investor is append-only';
end
$$;
create trigger append_only before update or delete on investor for each row execute function keep_investor();
select append_only('investor');

-- A request for new accounts, committed before platform is called. Its id is part of the keys of these calls.
create table provisioning (
  id                bigint generated always as identity primary key,
  -- Command id of the request; a repeated command creates nothing again.
  operation_id      text not null unique check (operation_id <> ''),
  kind              text not null check (kind in ('MASTER', 'INVESTOR')),
  state             text not null check (state in ('PENDING', 'ACTIVE', 'FAILED')),
  first_name        text not null,
  last_name         text not null,
  name              text not null,
  email             text not null,
  platform_group    text not null,
  -- The operator's limit is a setting of platform.
  leverage          integer not null check (leverage between 1 and 5000),
  min_deposit_minor bigint not null check (min_deposit_minor >= 0),
  strategy_name     text,
  strategy          text,
  -- Logins, each once the trading platform has assigned it.
  login             text,
  payment_login     text,
  -- Id of the created Master or Investor.
  became_id         bigint,
  refusal           jsonb,
  -- The first account of a failed pair has been disabled on the trading platform.
  is_tidied         boolean not null default false,
  created_at        timestamptz not null,
  next_try_at       timestamptz not null,
  tries             integer not null default 0 check (tries >= 0),
  -- Why the last try has failed.
  reason            text,
  check ((state = 'ACTIVE') = (became_id is not null)),
  check ((state = 'FAILED') = (refusal is not null))
);

create index provisioning_to_resume on provisioning (next_try_at) where state = 'PENDING';
create index provisioning_to_tidy on provisioning (id) where state = 'FAILED' and not is_tidied;
create unique index provisioning_by_login on provisioning (login) where login is not null;
-- A refused request has no login: it is found by the address of the person.
create index provisioning_failed_by_email on provisioning (email) where state = 'FAILED';

-- An encrypted platform password. Its associated data names owner, field and key id: a ciphertext in another row does not
-- decrypt.
create table credential (
  -- account:<role>:<operation id of the provisioning>.
  owner      text not null,
  field      text not null check (field in ('main', 'investor')),
  key_id     text not null,
  nonce      bytea not null check (length(nonce) = 12),
  ciphertext bytea not null,
  primary key (owner, field)
);

-- For passwords under an older key, and the number of passwords under each.
create index credential_by_key on credential (key_id);

-- What clients say of an account beside its registration: one row for each, from the request for it on, which is deleted when that is refused.
create table profile (
  id           bigint generated always as identity primary key,
  kind         text not null check (kind in ('MASTER', 'INVESTOR')),
  -- Null while the account is being created.
  login        text unique references account (login),
  -- The request for the account; null for one that was registered.
  operation_id text unique check (operation_id <> ''),
  -- The client's own id (externalId) and data (metadata); null without any.
  labels       jsonb check (jsonb_typeof(labels -> 'metadata') = 'object' and labels ->> 'externalId' <> ''),
  -- As the request has it, until it is changed.
  email        text check (email <> ''),
  check (num_nonnulls(login, operation_id) > 0)
);

-- The external id is unique in the role: the request reserves it before an account is created.
create unique index profile_external_id on profile ((labels ->> 'externalId'), kind);

-- Whole, because the planner has no statistics of the expression of a partial index.
create index profile_by_email on profile (lower(email));

-- Commands that changed an account: a repeated command does not overwrite a later change. Kept for longer than the edge may
-- repeat a command.
create table account_update (
  command_id text primary key check (command_id <> ''),
  applied_at timestamptz not null
);

create index account_update_by_age on account_update (applied_at);

-- The changes of payment accounts: recorded when the account was taken over on the trading platform, before fee is asked. One that fee refuses
-- is deleted, so an open one says that fee may pay to the new account: only its answer ends the change.
create table payment_account_change (
  id           bigint generated always as identity primary key,
  -- Null when the caller sent no id.
  command_id   text unique check (command_id <> ''),
  master_id    bigint not null references master,
  -- Belongs to the Master for ever, and so does the new one of a change that is not refused.
  from_login   text not null,
  to_login     text not null check (to_login <> from_login),
  requested_at timestamptz not null,
  -- fee pays to the new account, and so does the Master.
  done_at      timestamptz,
  next_try_at  timestamptz not null,
  tries        integer not null default 0 check (tries >= 0),
  -- Why the last try has failed.
  reason       text
);

create unique index payment_account_change_one_open on payment_account_change (master_id) where done_at is null;
create unique index payment_account_change_one_login on payment_account_change (to_login) where done_at is null;
create index payment_account_change_from on payment_account_change (from_login);
create index payment_account_change_to on payment_account_change (to_login);

-- The erasure of an Investor's personal data: requested, and erased here, in the commit that inserts it; erased on the trading platform
-- afterwards. It stays as the evidence, and is what has to be repeated after a restore of an older database.
create table erasure (
  login        text primary key references investor (login),
  -- Owner of the API key of the operator.
  requested_by text not null check (requested_by <> ''),
  requested_at timestamptz not null,
  erased_at    timestamptz,
  -- Whether the trading platform has shown the account; null until it was asked.
  on_platform  boolean,
  next_try_at  timestamptz not null,
  tries        integer not null default 0 check (tries >= 0),
  -- Why the last try has failed.
  reason       text,
  check ((erased_at is null) = (on_platform is null))
);

create index erasure_unfinished on erasure (next_try_at) where erased_at is null;

-- The service cannot change the name of an Investor itself. One that was erased stays so.
create function rename_investor(renamed text, to_name text) returns void
  language sql security definer set search_path = account, pg_temp as $$
  update investor set name = to_name
  where login = renamed and not exists (select from erasure where erasure.login = renamed)
$$;

create function erase_investor_name(erased text) returns void
  language sql security definer set search_path = account, pg_temp as $$
  -- A change of the Investor that is in progress ends before, and its rows are erased too.
  select pg_advisory_xact_lock(hashtextextended(erased, 0));
  update investor set name = 'erased'
  where login = erased and exists (select from erasure where erasure.login = erased)
$$;

-- Tables that services share.
\ir ../../kernel/feed/feed.sql
\ir ../../kernel/postgres/lease.sql
\ir ../../kernel/retention/retention.sql

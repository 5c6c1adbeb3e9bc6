\ir ../../kernel/postgres/lease.sql
\ir ../../kernel/feed/feed.sql
\ir ../../kernel/retention/retention.sql

-- One login has one role: the first registration wins.
create table account (
  login text primary key check (login ~ '^[0-9]{1,20}$'),
  kind  text not null check (kind in ('MASTER', 'PAYMENT', 'INVESTOR')),
  unique (login, kind)
);
select append_only('account');

create table master (
  id                bigint generated always as identity primary key,
  login             text not null unique,
  kind              text not null default 'MASTER' check (kind = 'MASTER'),
  payment_login     text not null unique,
  payment_kind      text not null default 'PAYMENT' check (payment_kind = 'PAYMENT'),
  name              text not null check (name <> ''),
  strategy_name     text,
  strategy          text,
  min_deposit_minor bigint not null check (min_deposit_minor >= 0),
  currency          text not null default 'USD' check (currency = 'USD'),
  created_at        timestamptz not null,
  -- The command that registered it: a repeated command is answered with this row. Null when the caller sent no id.
  command_id        text unique check (command_id <> ''),
  foreign key (login, kind) references account (login, kind),
  foreign key (payment_login, payment_kind) references account (login, kind)
);

-- Each row under the names that the code uses; so are the other views.
create view master_row as
  select id, login, payment_login as "paymentLogin", name, strategy_name as "strategyName", strategy,
         min_deposit_minor as "minDepositMinor", created_at as "createdAt"
  from master;

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
select append_only('investor');

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
  leverage          integer not null check (leverage between 1 and 500),
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

create view provisioning_row as
  select id, operation_id as "operationId", kind, state, first_name as "firstName", last_name as "lastName", name, email,
         platform_group as "platformGroup", leverage, min_deposit_minor as "minDepositMinor",
         strategy_name as "strategyName", strategy, login, payment_login as "paymentLogin", became_id as "becameId",
         refusal, created_at as "createdAt"
  from provisioning;

create index provisioning_to_resume on provisioning (next_try_at) where state = 'PENDING';
create index provisioning_to_tidy on provisioning (id) where state = 'FAILED' and not is_tidied;
create unique index provisioning_by_login on provisioning (login) where login is not null;

-- Commands that changed a Master: a repeated command does not overwrite a later change. Kept for longer than the edge may
-- repeat a command.
create table master_update (
  command_id text primary key check (command_id <> ''),
  applied_at timestamptz not null
);

create index master_update_by_age on master_update (applied_at);

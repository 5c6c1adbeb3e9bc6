-- One login has one role, whoever came first.
create table account (
  login text primary key check (login ~ '^[0-9]{1,20}$'),
  kind  text not null check (kind in ('MASTER', 'PAYMENT', 'INVESTOR')),
  unique (login, kind)
);

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
  -- The command that registered it: given again, it is answered with this row. Null when the caller gave no id.
  command_id        text unique check (command_id <> ''),
  foreign key (login, kind) references account (login, kind),
  foreign key (payment_login, payment_kind) references account (login, kind)
);

create table investor (
  id         bigint generated always as identity primary key,
  login      text not null unique,
  kind       text not null default 'INVESTOR' check (kind = 'INVESTOR'),
  name       text not null check (name <> ''),
  created_at timestamptz not null,
  -- As of a Master.
  command_id text unique check (command_id <> ''),
  foreign key (login, kind) references account (login, kind)
);

-- A platform password, sealed. The associated data of the seal names owner and field, so that a row moved elsewhere does not open.
create table credential (
  -- provisioning:<id>:<role> while and after the account is made.
  owner      text not null,
  field      text not null check (field in ('main', 'investor')),
  key_id     text not null,
  nonce      bytea not null check (length(nonce) = 12),
  ciphertext bytea not null,
  primary key (owner, field)
);

-- A order for new accounts, written before the platform is asked. Its id is part of the keys under which it is asked.
create table provisioning (
  id                bigint generated always as identity primary key,
  -- Command under which it was asked for; repeating it repeats nothing.
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
  -- Logins as far as they are known.
  login             text,
  payment_login     text,
  -- The Master or Investor that it became.
  became_id         bigint,
  refusal           jsonb,
  -- A failed pair leaves its first account disabled on the platform.
  is_tidied         boolean not null default false,
  created_at        timestamptz not null,
  next_try_at       timestamptz not null,
  tries             integer not null default 0 check (tries >= 0),
  check ((state = 'ACTIVE') = (became_id is not null)),
  check ((state = 'FAILED') = (refusal is not null))
);

create index provisioning_to_resume on provisioning (next_try_at) where state = 'PENDING';
create index provisioning_to_tidy on provisioning (id) where state = 'FAILED' and not is_tidied;
create unique index provisioning_by_login on provisioning (login) where login is not null;

-- Commands that changed a Master: given again, none of them overwrites what a later one has changed. Kept for longer than
-- the edge repeats a command.
create table master_update (
  command_id text primary key check (command_id <> ''),
  applied_at timestamptz not null
);

create index master_update_by_age on master_update (applied_at);

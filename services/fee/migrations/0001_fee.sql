\ir ../../kernel/postgres/lease.sql
\ir ../../kernel/feed/feed.sql
\ir ../../kernel/reconcile/tables.sql
\ir ../../kernel/reconcile/handled-break.sql
\ir ../../kernel/review/review.sql

-- Who has a fee configuration at all. The row is locked while a version is added, so that versions have an order.
create table fee_configuration (
  investor_login text primary key check (investor_login <> ''),
  investor_id    bigint not null,
  created_at     timestamptz not null,
  updated_at     timestamptz not null
);

-- Every command that ever changed a configuration, never edited. The newest one that has begun holds, for the rate and
-- for the switch each.
create table fee_version (
  id              bigint generated always as identity primary key,
  investor_login  text not null references fee_configuration,
  -- The command behind it; repeating it adds nothing.
  key             text not null unique check (key <> ''),
  rate_ppm        integer not null check (rate_ppm between 0 and 1000000),
  -- From when the rate holds; null when the command did not touch it.
  rate_from       timestamptz,
  enabled         boolean not null,
  -- From when the switch holds, never before the command; null when the command did not touch it.
  enabled_from    timestamptz,
  -- What is shown as the beginning of validity.
  effective_since timestamptz not null,
  made_at         timestamptz not null
);

create index fee_version_by_investor on fee_version (investor_login, id);

-- What reached the payment accounts. Ids are given at execution, in the order in which they become visible.
create table payment_credit (
  id                    bigint generated always as identity primary key,
  master_login          text not null,
  payment_account_login text not null,
  -- Null for an aggregate credit, whose key does not identify one Investor.
  investor_login        text,
  kind                  text not null check (kind in ('PF', 'PF_DEBT')),
  amount_minor          bigint not null check (amount_minor > 0),
  deal_id               bigint not null,
  deal_at               timestamptz not null,
  unique_key            text not null unique,
  created_at            timestamptz not null
);

create index payment_credit_by_master on payment_credit (master_login, id);

create table fee_run (
  id             bigint generated always as identity primary key,
  master_login   text not null,
  kind           text not null check (kind in ('WEEKLY', 'ON_DEMAND')),
  -- Of the crystallisation behind it.
  key            text unique check ((key is null) = (kind = 'WEEKLY')),
  status         text not null
    check (status in ('SCHEDULED', 'CALCULATING', 'EXECUTING', 'EXECUTED', 'PARTIALLY_EXECUTED', 'FAILED')),
  period_start   timestamptz not null,
  period_end     timestamptz not null,
  marked_at      timestamptz,
  -- How its payments stand; status follows from these.
  open_count     integer not null check (open_count >= 0),
  executed_count integer not null default 0 check (executed_count >= 0),
  failed_count   integer not null default 0 check (failed_count >= 0),
  created_at     timestamptz not null,
  check (period_start < period_end)
);

create unique index fee_run_of_week on fee_run (master_login, period_end) where kind = 'WEEKLY';

-- What each Investor paid, and which credit it became.
create table fee_payment (
  id                    bigint generated always as identity primary key,
  run_id                bigint not null references fee_run,
  master_login          text not null,
  payment_account_login text not null,
  investor_id           bigint not null,
  investor_login        text not null,
  kind                  text not null check (kind in ('PF', 'PF_DEBT')),
  -- W, WD<operation id>, UA<subscription id> or DEBT.
  suffix                text not null check (suffix <> '' and (suffix = 'DEBT') = (kind = 'PF_DEBT')),
  is_weekly             boolean not null,
  due_minor             bigint not null check (due_minor > 0 and amount_minor <= due_minor),
  -- Since when it is owed: what is not taken goes back to the debts with its age.
  owed_since            timestamptz not null,
  -- What was taken, 0 until then.
  amount_minor          bigint not null default 0 check (amount_minor >= 0),
  status                text not null
    check (status in ('PENDING', 'EXECUTING', 'EXECUTED', 'SKIPPED', 'DEFERRED', 'FAILED', 'REVERSED')),
  next_try_at           timestamptz not null,
  tries                 integer not null default 0,
  -- Why it waits, or why it was not taken.
  reason                text,
  explanation           jsonb not null,
  transfer_id           bigint,
  deal_id               bigint,
  executed_at           timestamptz,
  credit_id             bigint unique references payment_credit,
  created_at            timestamptz not null,
  -- Under which platform knows it.
  key                   text not null generated always as ('fee:payment:' || id::text) stored,
  unique_key            text not null
    generated always as ('PF:' || investor_login || ':' || master_login || ':' || run_id::text || ':' || suffix) stored,
  unique (run_id, investor_login, master_login, suffix),
  check (status <> 'EXECUTED' or num_nulls(transfer_id, deal_id, executed_at, credit_id) = 0)
);

create index fee_payment_executed on fee_payment (master_login, id desc) where status = 'EXECUTED' and amount_minor > 0;
create index fee_payment_to_try on fee_payment (next_try_at) where status in ('PENDING', 'EXECUTING');
create index fee_payment_open on fee_payment (investor_login, id) where status in ('PENDING', 'EXECUTING');

-- A Master of which fee has heard. The row is the lock of everything that fee decides about the Master, and of the order in
-- which the ids of its credits become visible.
create table fee_master (
  master_login          text primary key check (master_login <> ''),
  payment_account_login text not null check (payment_account_login <> ''),
  -- The last entry of the Master's allocations that is in the journal, all closed weeks up to it decided.
  read_number           bigint not null default 0 check (read_number >= 0),
  -- Why nothing is read any more until a person acts.
  stopped_reason        text check (stopped_reason <> ''),
  -- Why nothing of a Master's fees is decided or sent any more until people say so: something about them, or about its
  -- payment account, does not tie. Apart from stopped_reason, because each of the two is decided by a review of its own.
  break_reason          text check (break_reason <> '')
);

create index fee_master_by_payment_account on fee_master (payment_account_login);

-- How far a Master's allocations go, as the feed says. Apart from the Master, so that hearing never waits for deciding.
create table allocation_watermark (
  master_login text primary key check (master_login <> ''),
  received_number bigint not null,
  next_read_at timestamptz not null,
  tries        integer not null default 0
);

-- What subscription allocated, as it was read.
create table allocation_entry (
  master_login text not null references fee_master,
  number       bigint not null check (number > 0),
  kind         text not null check (kind in ('RESULT', 'WEEK')),
  deal_id      bigint,
  -- Time of the Master's deal.
  deal_at      timestamptz,
  result_minor bigint,
  period_start timestamptz,
  -- Exclusive.
  cut_off      timestamptz,
  -- When marks of open positions were taken; null when the Master was flat.
  marked_at    timestamptz,
  primary key (master_login, number),
  check (case kind when 'RESULT' then num_nulls(deal_id, deal_at, result_minor) = 0
                   else num_nulls(period_start, cut_off) = 0 and period_start < cut_off end)
);

create table allocation_part (
  master_login    text not null,
  number          bigint not null,
  subscription_id bigint not null,
  investor_login  text not null,
  amount_minor    bigint not null,
  floating_e8     bigint not null,
  primary key (master_login, number, subscription_id),
  foreign key (master_login, number) references allocation_entry
);

create index allocation_part_by_investor on allocation_part (master_login, investor_login, number);

-- What an Investor has earned with a Master, over all subscriptions, as far as it was folded. It follows from the journal
-- and from what was crystallised, so it is brought up to date when somebody asks.
create table fee_pair (
  investor_login  text not null,
  master_login    text not null references fee_master,
  folded_number   bigint not null default 0,
  -- Sum of all results.
  earned_minor    bigint not null default 0,
  -- The high-water mark.
  mark_e8         bigint not null default 0 check (mark_e8 >= 0),
  -- Bottom first: pairs of units of 1e-8 USD, as text, and the time of the deal. They fill the interval from mark to earned.
  layers          jsonb not null default '[]',
  debt_minor      bigint not null default 0 check (debt_minor >= 0),
  debt_since      timestamptz,
  crystallised_at timestamptz,
  primary key (investor_login, master_login),
  check ((debt_minor > 0) = (debt_since is not null))
);

create index fee_pair_in_debt on fee_pair (investor_login) where debt_minor > 0;

-- What was answered when somebody left, for ever the same.
create table crystallisation (
  key             text primary key check (key <> ''),
  investor_login  text not null,
  -- Null outside a pool.
  master_login    text,
  subscription_id bigint not null,
  through_number  bigint not null,
  decided_for     timestamptz not null,
  pending_minor   bigint not null check (pending_minor >= 0),
  -- What was taken, once all of it is settled.
  collected_minor bigint check (collected_minor >= 0),
  created_at      timestamptz not null
);

create table crystallisation_item (
  key          text not null references crystallisation,
  -- They are taken in this order.
  place        integer not null check (place > 0),
  payment_id   bigint not null references fee_payment,
  amount_minor bigint not null check (amount_minor > 0),
  -- Of a weekly run before; not a part of what is pending.
  is_weekly    boolean not null,
  primary key (key, place)
);

-- How far the log of a payment account was looked through, by the numbers that platform gives.
create table payment_account (
  login       text primary key check (login <> ''),
  seen_number bigint not null check (seen_number >= 0)
);

-- The highest mark that the check has seen of each pair: a mark that is below it has been lowered.
create table reconciliation_mark (
  investor_login text not null,
  master_login   text not null,
  mark_e8        bigint not null,
  primary key (investor_login, master_login)
);

-- A Master of which fee has heard. The row is the lock of everything that fee decides about the Master, and of the order in
-- which the ids of its credits become visible.
create table fee_master (
  master_login          text primary key check (master_login <> ''),
  payment_account_login text not null check (payment_account_login <> ''),
  -- The last entry of the Master's allocations that is in the journal, all closed weeks up to it decided.
  read_number           bigint not null default 0 check (read_number >= 0),
  -- Why nothing is read any more until a person acts.
  stopped_reason        text check (stopped_reason <> '')
);

-- How far a Master's allocations go, as the feed says. Apart from the Master, so that hearing never waits for deciding.
create table heard_master (
  master_login text primary key check (master_login <> ''),
  heard_number bigint not null,
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

alter table fee_run
  add column kind            text not null check (kind in ('WEEKLY', 'ON_DEMAND')),
  -- Of the crystallisation behind it.
  add column key             text unique check ((key is null) = (kind = 'WEEKLY')),
  add column marked_at       timestamptz,
  -- How its payments stand; status follows from these.
  add column open_count      integer not null check (open_count >= 0),
  add column executed_count  integer not null default 0 check (executed_count >= 0),
  add column failed_count    integer not null default 0 check (failed_count >= 0),
  add column created_at      timestamptz not null;

create unique index fee_run_of_week on fee_run (master_login, period_end) where kind = 'WEEKLY';

-- amount_minor is what was taken, 0 until then.
alter table fee_payment
  alter column amount_minor set default 0,
  add column kind                  text not null check (kind in ('PF', 'PF_DEBT')),
  -- W, WD<operation id>, UA<subscription id> or DEBT.
  add column suffix                text not null check (suffix <> '' and (suffix = 'DEBT') = (kind = 'PF_DEBT')),
  add column is_weekly             boolean not null,
  add column payment_account_login text not null,
  add column due_minor             bigint not null check (due_minor > 0 and amount_minor <= due_minor),
  -- Since when it is owed: what is not taken goes back to the debts with its age.
  add column owed_since            timestamptz not null,
  add column next_try_at           timestamptz not null,
  add column tries                 integer not null default 0,
  -- Why it waits, or why it was not taken.
  add column reason                text,
  add column explanation           jsonb not null,
  -- Under which platform knows it.
  add column key                   text not null generated always as ('fee:payment:' || id::text) stored,
  add column unique_key            text not null
    generated always as ('PF:' || investor_login || ':' || master_login || ':' || run_id::text || ':' || suffix) stored,
  add unique (run_id, investor_login, master_login, suffix);

create index fee_payment_to_try on fee_payment (next_try_at) where status in ('PENDING', 'EXECUTING');
create index fee_payment_open on fee_payment (investor_login, id) where status in ('PENDING', 'EXECUTING');

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

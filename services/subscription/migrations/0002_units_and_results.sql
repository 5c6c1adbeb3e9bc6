-- Pools are kept by units: who shares in results, and how much of what floats has been attributed already.
-- Numbers that are scaled by units or by 1e24 do not fit 64 bits.
alter table seat
  add column units            numeric not null default 0 check (units >= 0 and units = trunc(units)),
  -- What rounding to cents has left, 1e-8 USD.
  add column carry_e8         bigint not null default 0,
  -- Has left what is pooled already; its units go at the next strike that can.
  add column unredeemed_minor bigint not null default 0 check (unredeemed_minor >= 0);

create index seat_by_investor on seat (investor_login);
create index seat_unredeemed on seat (master_login) where unredeemed_minor > 0;

-- What works in a pool of before was never struck: nothing of it floats in these books, so a unit is worth 1e-8 USD.
update seat set units = pooled_minor * 1000000 where pooled_minor > 0;

alter table master_pool
  -- Results that no Investor owns, and what rounding left of them.
  add column suspense_minor       bigint not null default 0,
  add column suspense_carry_e8    bigint not null default 0,
  -- Number of the newest allocation entry.
  add column last_allocation      bigint not null default 0 check (last_allocation >= 0),
  -- Last cut-off up to which weeks are closed; null while nobody is ACTIVE, because then no week is closed.
  add column weeks_closed_through timestamptz,
  -- Highest ticket that was filed, and that ticket at the last strike: a lower one that comes later stops the Master.
  add column filed_deal_id        bigint not null default 0,
  add column struck_deal_id       bigint not null default 0,
  -- Every position that the Master may have open is in these books: it had nothing before us, or was read whole since.
  add column are_positions_known  boolean not null default true,
  -- Cash and attributed floating result of everybody were below zero after the last result or strike.
  add column is_in_deficit        boolean not null default false,
  -- When the Master is read again for a strike or a week that could not be had, and why not.
  add column mark_next_at         timestamptz not null default '-infinity',
  add column mark_tries           integer not null default 0,
  add column mark_reason          text;

update master_pool
set weeks_closed_through = now()
where exists (select from subscription where subscription.master_login = login and subscription.status = 'ACTIVE');

-- What was there before these books was never read whole.
update master_pool set are_positions_known = false;

create index master_pool_weeks on master_pool (weeks_closed_through) where weeks_closed_through is not null;

-- An open position of a Master's trader, as far as its floating result was attributed. Scaled by 1e24 for each 1e-8 USD.
create table pool_position (
  master_login text not null references master_pool,
  position_id  bigint not null,
  symbol       text not null,
  -- Lots in units of 1e-8.
  volume       bigint not null,
  mark         numeric not null,
  per_unit     numeric not null,
  primary key (master_login, position_id)
);

-- Of a seat whose units changed while the position was open.
create table accrual (
  master_login    text not null references master_pool,
  position_id     bigint not null,
  -- 0 is suspense.
  subscription_id bigint not null,
  basis           numeric not null,
  per_unit        numeric not null,
  primary key (master_login, position_id, subscription_id)
);

-- What waits for its units, by the place in the Master's log from which on it works: seat.waiting_minor in its parts.
create table arrival (
  id              bigint generated always as identity primary key,
  subscription_id bigint not null references subscription,
  master_login    text not null references master_pool,
  -- Last entry of the Master's log that it has no part in, and the highest ticket up to there.
  number          bigint not null,
  deal_id         bigint not null,
  amount_minor    bigint not null check (amount_minor > 0)
);

create index arrival_by_master on arrival (master_login, subscription_id);

insert into arrival (subscription_id, master_login, number, deal_id, amount_minor)
select subscription_id, master_login, filed_number, 0, waiting_minor
from seat join master_pool on master_pool.login = seat.master_login
where waiting_minor > 0;

-- What happened to a Master's Investors, in the one order that counts: 1, 2, 3 ... without gaps.
create table allocation_entry (
  master_login   text not null references master_pool,
  number         bigint not null check (number > 0),
  kind           text not null check (kind in ('RESULT', 'WEEK')),
  created_at     timestamptz not null,
  -- Of a result: the entry of the Master's log, and what of it belongs to nobody.
  log_number     bigint,
  deal_id        bigint,
  deal_at        timestamptz,
  result_minor   bigint,
  suspense_minor bigint,
  -- Of a closed week, half-open; marked_at is null when the Master was flat.
  period_start   timestamptz,
  cut_off        timestamptz,
  marked_at      timestamptz,
  primary key (master_login, number),
  unique (master_login, log_number),
  unique (master_login, cut_off),
  check (num_nulls(log_number, deal_id, deal_at, result_minor, suspense_minor) = case kind when 'RESULT' then 0 else 5 end),
  check (num_nulls(period_start, cut_off) = case kind when 'WEEK' then 0 else 2 end),
  check (kind = 'WEEK' or marked_at is null)
);

-- The part of one Investor, with the balance and the carry after it. A closed week has a row for everybody who was ACTIVE.
-- The largest table: no foreign keys, its writer holds the locks of all that it names.
create table allocation_row (
  master_login    text not null,
  number          bigint not null,
  subscription_id bigint not null,
  amount_minor    bigint not null,
  pooled_minor    bigint not null,
  carry_e8        bigint not null,
  floating_e8     bigint not null default 0,
  primary key (master_login, number, subscription_id)
);

-- A result on its way to an Investor account.
create table posting (
  id             bigint generated always as identity primary key,
  key            text generated always as ('subscription:posting:' || id) stored unique,
  investor_login text not null references investor_account,
  amount_minor   bigint not null check (amount_minor <> 0),
  state          text not null check (state in ('OPEN', 'APPLIED', 'REFUSED')),
  created_at     timestamptz not null,
  closed_at      timestamptz,
  next_try_at    timestamptz not null,
  tries          integer not null default 0,
  reason         text,
  check ((state = 'OPEN') = (closed_at is null))
);

-- One at a time covers everything that is decided by then.
create unique index posting_one_open on posting (investor_login) where state = 'OPEN';
create index posting_due on posting (next_try_at) where state = 'OPEN';

alter table investor_account
  -- Refusals in a row, and when the next posting may be made.
  add column posting_refusals integer not null default 0,
  add column posting_next_at  timestamptz not null default '-infinity';

create index investor_account_unposted on investor_account (posting_next_at) where unposted_minor <> 0;

-- Fees that have left an Investor, by the key of their transfer: these are not open any more, whatever fee knows yet.
create table fee_debit (
  key            text primary key,
  investor_login text not null,
  log_number     bigint not null,
  amount_minor   bigint not null check (amount_minor > 0)
);

alter table leave
  add column fee_suffix        text not null default '',
  -- Of the instant at which it was settled: what the four numbers are made of.
  add column settled_at        timestamptz,
  add column allocation_number bigint,
  add column period_start      timestamptz,
  add column unposted_minor    bigint,
  add column quarantined_minor bigint;

update leave
set settled_at = coalesce(closed_at, created_at), allocation_number = 0,
    period_start = coalesce(closed_at, created_at), unposted_minor = 0, quarantined_minor = 0
where state in ('SETTLED', 'DECIDED');

alter table leave
  add check (
    state not in ('SETTLED', 'DECIDED')
    or num_nulls(settled_at, allocation_number, period_start, unposted_minor, quarantined_minor) = 0
  );

create or replace view leave_row as
  select key, try, investor_login as "investorLogin", kind, requested_minor as requested,
         held_balance_minor as "heldBalance", held_log_number as "heldLogNumber", payout_key as "payoutKey", state,
         subscription_id as "subscriptionId", master_login as "masterLogin", settled_number as "settledNumber",
         before_minor as before, pending_minor as pending, available_minor as available, effective_minor as effective,
         refusal, fee_suffix as "feeSuffix", settled_at as "settledAt", allocation_number as "allocationNumber",
         period_start as "periodStart", unposted_minor as unposted, quarantined_minor as quarantined
  from leave;

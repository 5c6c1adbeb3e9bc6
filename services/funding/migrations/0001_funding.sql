\ir ../../kernel/postgres/lease.sql
\ir ../../kernel/reconcile/tables.sql

-- Every deposit and withdrawal that was ever asked for, and its saga. The row is written before anybody is asked to act.
create table cashflow (
  id              bigint generated always as identity primary key,
  -- Id under which the caller asked; repeating it repeats nothing.
  operation_id    text not null unique check (operation_id <> ''),
  action          text not null check (action in ('deposit', 'withdraw')),
  login           text not null,
  amount_minor    bigint not null check (amount_minor > 0),
  currency        text not null check (currency = 'USD'),
  comment         text not null,
  -- COLLECTING: between the pool's decision and the payout the pending fee is taken.
  state           text not null check (state in ('RECORDED', 'LEAVING', 'COLLECTING', 'PAYING', 'POSTED', 'REFUSED')),
  -- What the platform said last while its answer is not final: UNKNOWN or REVIEW.
  doubt           text check (doubt in ('UNKNOWN', 'REVIEW')),
  deal_id         bigint,
  refusal         jsonb,
  -- The caller waits no longer; nothing may begin on the platform after it.
  deadline        timestamptz not null,
  created_at      timestamptz not null,
  finished_at     timestamptz,
  -- When the settling job looks at it next, and whether it has: from then on the request leaves the saga to the job.
  next_try_at     timestamptz not null,
  tries           integer not null default 0 check (tries >= 0),
  -- The API key whose equal operations are its duplicates. Null where nothing tells duplicates apart: the comment is our default, or
  -- the request came from no API key.
  duplicate_scope_key           text check (duplicate_scope_key <> ''),
  -- Ticket of the last duplicate that was executed shortly before this one was asked for.
  possible_duplicate_of bigint,
  check ((state = 'REFUSED') = (refusal is not null)),
  check ((state in ('POSTED', 'REFUSED')) = (finished_at is not null)),
  constraint cashflow_leaves_by_withdrawal
    check (state not in ('LEAVING', 'COLLECTING', 'PAYING') or action = 'withdraw'),
  check (deal_id is null or state = 'POSTED')
);

create index cashflow_to_settle on cashflow (next_try_at) where state not in ('POSTED', 'REFUSED');
create index cashflow_by_login on cashflow (login, id);

-- Of duplicates only one is open at a time: the second of two that come at the same moment waits for the first's commit.
create unique index cashflow_one_open_duplicate
  on cashflow (duplicate_scope_key, login, action, amount_minor, currency, comment)
  where duplicate_scope_key is not null and state not in ('POSTED', 'REFUSED');
create index cashflow_executed_duplicate
  on cashflow (duplicate_scope_key, login, action, amount_minor, currency, comment, finished_at)
  where duplicate_scope_key is not null and state = 'POSTED';

-- The ledger is read the newest first. Ids are UUIDs of version 7, which grow with time; byte by byte, as other readers
-- compare them.
create index cashflow_newest on cashflow (operation_id collate "C");
create index cashflow_newest_of_login on cashflow (login, operation_id collate "C");
create index cashflow_newest_of_comment on cashflow (comment, operation_id collate "C");

-- What a deposit was decided on.
create table deposit_decision (
  cashflow_id            bigint primary key references cashflow,
  first_deposit_checked  boolean not null,
  min_deposit_minor      bigint not null check (min_deposit_minor >= 0)
);

-- The account lock of a withdrawal and the four numbers that its answer is made of, stored before anything moves.
create table withdrawal (
  cashflow_id            bigint primary key references cashflow,
  -- Each try holds the account lock under a name of its own.
  try                    integer not null default 1 check (try > 0),
  is_released            boolean not null default false,
  held_balance_minor     bigint,
  held_log_number        bigint,
  balance_before_minor   bigint check (balance_before_minor >= 0),
  pending_fee_minor      bigint check (pending_fee_minor >= 0),
  available_minor        bigint check (available_minor >= 0),
  effective_minor        bigint check (effective_minor >= 0),
  open_positions_checked boolean,
  check ((held_balance_minor is null) = (held_log_number is null)),
  check (num_nulls(balance_before_minor, pending_fee_minor, available_minor, effective_minor, open_positions_checked) in (0, 5))
);

create index withdrawal_to_release on withdrawal (cashflow_id) where not is_released;

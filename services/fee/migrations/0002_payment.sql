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
  id           bigint generated always as identity primary key,
  master_login text not null,
  status       text not null
    check (status in ('SCHEDULED', 'CALCULATING', 'EXECUTING', 'EXECUTED', 'PARTIALLY_EXECUTED', 'FAILED')),
  period_start timestamptz not null,
  period_end   timestamptz not null,
  check (period_start < period_end)
);

-- What each Investor paid, and which credit it became.
create table fee_payment (
  id             bigint generated always as identity primary key,
  run_id         bigint not null references fee_run,
  master_login   text not null,
  investor_id    bigint not null,
  investor_login text not null,
  amount_minor   bigint not null check (amount_minor >= 0),
  status         text not null
    check (status in ('PENDING', 'EXECUTING', 'EXECUTED', 'SKIPPED', 'DEFERRED', 'FAILED', 'REVERSED')),
  transfer_id    bigint,
  deal_id        bigint,
  executed_at    timestamptz,
  credit_id      bigint unique references payment_credit,
  created_at     timestamptz not null,
  check (status <> 'EXECUTED' or num_nulls(transfer_id, deal_id, executed_at, credit_id) = 0)
);

create index fee_payment_executed on fee_payment (master_login, id desc) where status = 'EXECUTED' and amount_minor > 0;

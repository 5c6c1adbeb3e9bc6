-- Forward only: once applied, this file must not change. Rules: CONTRIBUTING.md, "A new migration".

-- False: assignments to the Master are refused. The previous release does not know the column, and accepts.
alter table master add column accepting_investors boolean not null default true;
-- Null: since the registration.
alter table master add column accepting_changed_at timestamptz;

create or replace view master_row as
  select id, login, payment_login as "paymentLogin", name, strategy_name as "strategyName", strategy,
         min_deposit_minor as "minDepositMinor", created_at as "createdAt", accepting_investors as "acceptingInvestors",
         coalesce(accepting_changed_at, created_at) as "acceptingSince"
  from master;

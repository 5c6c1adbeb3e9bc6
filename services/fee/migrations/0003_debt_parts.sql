-- Forward only: once applied, this file must not change. Rules: CONTRIBUTING.md, "A new migration".

-- What a debt is made of: the part of a payment that was not collected, and the payment of the debt that took it over. The previous
-- release adds debts without parts and takes them without noting it; then the parts of a debt are not its whole amount. The payments
-- are locked when their ids are written and never deleted, so a foreign key would only look them up again.
create table fee_debt_part (
  id             bigint generated always as identity primary key,
  investor_login text not null,
  master_login   text not null,
  source_id      bigint not null,
  amount_minor   bigint not null check (amount_minor > 0),
  added_at       timestamptz not null,
  taken_by_id    bigint
);

create index fee_debt_part_open on fee_debt_part (investor_login, master_login) where taken_by_id is null;
create index fee_debt_part_taken on fee_debt_part (taken_by_id, id) where taken_by_id is not null;

-- Why nothing of a Master's fees is decided or sent any more until people say so: something about them, or about its payment
-- account, does not tie. Apart from stopped_reason, because each of the two is decided by a review of its own.
alter table fee_master add column break_reason text check (break_reason <> '');

create index fee_master_by_payment_account on fee_master (payment_account_login);

-- For which breaks of which service a Master was stopped. Each does so once: it stays open while people decide, and would
-- otherwise stop again what they have just resumed.
create table heeded_break (
  service      text not null check (service <> ''),
  break_id     bigint not null,
  master_login text not null,
  heeded_at    timestamptz not null default clock_timestamp(),
  primary key (service, break_id, master_login)
);

-- How far the log of a payment account was looked through, by the numbers that platform gives.
create table payment_account (
  login       text primary key check (login <> ''),
  seen_number bigint not null check (seen_number >= 0)
);

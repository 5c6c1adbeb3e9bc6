-- Performance fees: what each Investor agreed, what is due of it, and what was paid.

-- One row per Investor with a fee configuration. The row is locked while a version is added, so that versions have a sequence.
create table fee_configuration (
  investor_login text primary key check (investor_login <> ''),
  investor_id    bigint not null,
  created_at     timestamptz not null,
  updated_at     timestamptz not null
);

-- The versions of an Investor's fees: one is in force, at most one is scheduled, and the others are past.
create table fee_version (
  id              bigint generated always as identity primary key,
  investor_login  text not null references fee_configuration,
  -- Key of the command; a repeated command adds nothing.
  key             text not null unique check (key <> ''),
  rate_ppm        integer not null check (rate_ppm between 0 and 1000000),
  -- From when the rate is valid.
  effective_since timestamptz not null,
  enabled         boolean not null,
  -- From when the switch is valid: not before the rate, and of a change not before the command.
  enabled_from    timestamptz not null,
  made_at         timestamptz not null,
  -- When it follows the version before it: at its start, and not before the command.
  begins_at       timestamptz not null generated always as (greatest(effective_since, made_at)) stored,
  check (enabled_from >= effective_since)
);
select append_only('fee_version');

create index fee_version_by_investor on fee_version (investor_login, id);
create index fee_version_by_begin on fee_version (investor_login, begins_at, id);

-- What has ended a version other than the start of a later one: a version with the same or an earlier start, or its cancellation.
create table fee_version_ended (
  version_id bigint primary key references fee_version,
  state      text not null check (state in ('replaced', 'cancelled')),
  -- Of the command that has ended it.
  key        text not null check (key <> ''),
  -- Before it begins: it never does.
  ended_at   timestamptz not null
);
select append_only('fee_version_ended');

-- A Master with fees. The row is locked to record what is due to it, and so that the ids of its credits become visible in sequence.
create table fee_master (
  master_login          text primary key check (master_login <> ''),
  payment_account_login text not null check (payment_account_login <> ''),
  -- Why none of its fees is decided or sent until a manual review is decided: a break of its fees or of its payment account.
  break_reason          text check (break_reason <> '')
);

-- The payment accounts of the Masters, former ones included: a difference on one stops the fees of the Master.
create table payment_account (
  login        text primary key check (login <> ''),
  master_login text not null,
  -- The log position up to which its log was scanned; null before the first scan.
  seen_number  bigint check (seen_number >= 0)
);

-- What fees that no payment knew have paid to a Master before a restore: it is taken from the next ones.
create table fee_prepaid (
  investor_login text not null,
  master_login   text not null references fee_master,
  prepaid_minor  bigint not null check (prepaid_minor >= 0),
  primary key (investor_login, master_login)
);

-- Fees of a Master that were decided together: those of a closed week, or of a withdrawal or exit.
create table fee_run (
  id             bigint generated always as identity primary key,
  master_login   text not null,
  kind           text not null check (kind in ('WEEKLY', 'ON_DEMAND')),
  -- Of the withdrawal or exit.
  key            text unique check ((key is null) = (kind = 'WEEKLY')),
  -- Keys of payments of weeks that the withdrawal or exit collects before its own.
  weekly_keys    text[] not null default '{}' check (weekly_keys = '{}' or kind = 'ON_DEMAND'),
  period_start   timestamptz not null,
  period_end     timestamptz not null,
  -- False while further Investors of a large pool are to be decided.
  is_decided     boolean not null default true,
  created_at     timestamptz not null,
  check (period_start < period_end)
);

create unique index fee_run_of_week on fee_run (master_login, period_end) where kind = 'WEEKLY';
create index fee_run_weekly on fee_run (id desc) where kind = 'WEEKLY';
create index fee_run_by_weekly_key on fee_run using gin (weekly_keys) where weekly_keys <> '{}';

-- Ids of credits on payment accounts.
create sequence payment_credit_id;

-- What Investors have to pay: what is due, what was collected and credited, and what is left of it as debt.
create table fee_payment (
  id                    bigint generated always as identity primary key,
  run_id                bigint not null references fee_run,
  master_login          text not null,
  payment_account_login text not null,
  investor_id           bigint not null,
  investor_login        text not null,
  kind                  text not null check (kind in ('PF', 'PF_DEBT')),
  -- W, WD<operation id>, UA<subscription id>, DEBT, or IM<hash of its key>: a fee that was collected before a restore and that no payment knew.
  suffix                text not null check (suffix <> '' and (suffix = 'DEBT') = (kind = 'PF_DEBT')),
  unique_key            text not null
    generated always as ('PF:' || investor_login || ':' || master_login || ':' || run_id::text || ':' || suffix) stored,
  -- The job collects it: one of a weekly run, or of a withdrawal or exit that could not wait for it.
  is_weekly             boolean not null,
  due_minor             bigint not null check (due_minor > 0),
  -- The part of it that imported fees had paid before.
  prepaid_minor         bigint not null default 0 check (prepaid_minor between 0 and due_minor),
  -- The collected amount, 0 until then.
  amount_minor          bigint not null default 0 check (amount_minor between 0 and due_minor - prepaid_minor),
  -- Since when it is owed: the uncollected part becomes debt again with this age.
  owed_since            timestamptz not null,
  explanation           jsonb,
  status                text not null
    check (status in ('PENDING', 'EXECUTING', 'EXECUTED', 'SKIPPED', 'DEFERRED', 'REVERSED')),
  next_try_at           timestamptz not null,
  tries                 integer not null default 0,
  -- Why it waits, or why it was not collected.
  reason                text,
  -- Key of its transfer at platform.
  key                   text not null check (key <> ''),
  -- The hash in the comments of its deals: of that key, or, for a fee that no payment knew, of the key under which it was sent.
  key_hash              text not null,
  transfer_id           bigint,
  deal_id               bigint,
  executed_at           timestamptz,
  -- Its credit on the payment account; the id is drawn when it is executed, under the lock of the Master, so that the ids of a Master become visible in sequence.
  credit_id             bigint,
  credit_deal_id        bigint,
  credited_at           timestamptz,
  -- The payment of the debt that took over what was not collected of this one. Payments are never deleted, so a foreign key would only look it up again.
  taken_by_id           bigint,
  created_at            timestamptz not null,
  unique (run_id, investor_login, master_login, suffix),
  check (num_nulls(credit_id, credit_deal_id, credited_at) = case status when 'EXECUTED' then 0 else 3 end),
  check (status <> 'EXECUTED' or amount_minor > 0 and num_nulls(transfer_id, deal_id, executed_at) = 0)
);

create unique index fee_payment_credit on fee_payment (master_login, credit_id) where credit_id is not null;
create index fee_payment_credit_by_day on fee_payment (master_login, executed_at) include (amount_minor) where status = 'EXECUTED';
create index fee_payment_executed on fee_payment (master_login, id desc) where status = 'EXECUTED';
create index fee_payment_executed_of_investor on fee_payment (investor_login, id desc) where status = 'EXECUTED';
-- Of a run, whose status follows from its payments.
create index fee_payment_open_of_run on fee_payment (run_id) where status in ('PENDING', 'EXECUTING');
create index fee_payment_failed_of_run on fee_payment (run_id) where status in ('DEFERRED', 'REVERSED');
create index fee_payment_open on fee_payment (investor_login, id) where status in ('PENDING', 'EXECUTING');
-- The open payments, by the statuses that they do not have: for rows that it has not analysed yet, the planner expects most to
-- differ from a value and hardly any to be equal to one.
create index fee_payment_to_try on fee_payment (next_try_at, id)
  where status not in ('EXECUTED', 'SKIPPED', 'DEFERRED', 'REVERSED');
-- For the check that compares platform's transfers with the payments that they belong to.
create index fee_payment_by_key on fee_payment (key);
create index fee_payment_by_key_hash on fee_payment (key_hash);
-- The columns as the collection reads them.
create view fee_payment_row as
  select id, key, kind, master_login as "masterLogin", payment_account_login as "paymentAccountLogin",
         investor_login as "investorLogin", due_minor - prepaid_minor as due, tries, status,
         is_weekly as "isWeekly", deal_id as "dealId", key_hash as "keyHash",
         exists (
           select from fee_master where fee_master.master_login = fee_payment.master_login and break_reason is not null
         ) as "isStopped"
  from fee_payment;

-- CALCULATING: some Investors of its week remain to be decided; payments of the others may be executed already. SCHEDULED: no payment was sent.
-- EXECUTING: payments are sent. The other three are final. Payments that were skipped count in none.
create view fee_run_row as
  select id, master_login as "masterLogin", kind, period_start as "periodStart", period_end as "periodEnd", is_decided as "isDecided",
         created_at as "createdAt",
         case when not is_decided then 'CALCULATING'
              when exists (select from fee_payment where run_id = fee_run.id and status in ('PENDING', 'EXECUTING')) then
                case when exists (select from fee_payment where run_id = fee_run.id and status <> 'PENDING') then 'EXECUTING' else 'SCHEDULED' end
              when not exists (select from fee_payment where run_id = fee_run.id and status in ('DEFERRED', 'REVERSED')) then 'EXECUTED'
              when exists (select from fee_payment where run_id = fee_run.id and status = 'EXECUTED') then 'PARTIALLY_EXECUTED'
              else 'FAILED' end as status
  from fee_run;

-- The parts of debts that are owed: what could not be collected of payments, and no payment of a debt has taken over. The debt of an Investor to a
-- Master is their sum, as old as the oldest of them.
create view fee_debt_part as
  select id, investor_login, master_login, due_minor - prepaid_minor - amount_minor as amount_minor, owed_since
  from fee_payment
  where status in ('EXECUTED', 'SKIPPED', 'DEFERRED', 'REVERSED') and amount_minor < due_minor - prepaid_minor and taken_by_id is null;

create index fee_payment_owed on fee_payment (investor_login, master_login)
  where status in ('EXECUTED', 'SKIPPED', 'DEFERRED', 'REVERSED') and amount_minor < due_minor - prepaid_minor and taken_by_id is null;
create index fee_payment_taken on fee_payment (taken_by_id, id) where taken_by_id is not null;

-- A payment that was executed is a state that callers see.
create function note_payment() returns trigger language plpgsql set search_path from current as $$
begin
  insert into state_change (kind, state, subject, login, master_login, operation_id, amount_minor, deal_id)
  values ('fee', new.status, new.id, new.investor_login, new.master_login,
          case when new.suffix like 'WD%' then substr(new.suffix, 3) else '' end, new.amount_minor, new.deal_id);
  return null;
end
$$;

create trigger note_insert after insert on fee_payment for each row
  when (new.status = 'EXECUTED') execute function note_payment();
create trigger note_update after update on fee_payment for each row
  when (new.status = 'EXECUTED' and old.status is distinct from new.status) execute function note_payment();

-- Tables that services share.
\ir ../../kernel/feed/feed.sql
\ir ../../kernel/states/state-changes.sql
\ir ../../kernel/reconcile/tables.sql
\ir ../../kernel/reconcile/handled-break.sql
\ir ../../kernel/review/review.sql
\ir ../../kernel/postgres/lease.sql
\ir ../../kernel/retention/retention.sql

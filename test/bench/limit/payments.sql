-- The durable work of 64 fees in one set as a script for pgbench: debit and credit of each, in the commits that the protocol
-- needs (order and permit of the debits; their answers with the permits of the credits; the answers of the credits; the
-- settled payments), on the tables, indexes and constraints of the services. Nothing happens between the commits. Each client has
-- Investors and a payment account of its own.

select nextval('payment_batch') * 64 as last \gset

-- Commit 1: platform records the transfers and permits the debits.
begin;
select login, log_number, log_minor
from platform.account
where login in (select (3000000 + :client_id::bigint * 100 + s)::text from generate_series(1, 64) as s)
order by login
for no key update;
with wanted as (
  select s, (3000000 + :client_id::bigint * 100 + s)::text as login, 'fee-payment-' || (:last::bigint - 64 + s) as key
  from generate_series(1, 64) as s
), made as (
  insert into platform.transfer (key, lock_owner, leg_count, is_enqueued, releases_lock, comment, request_id)
  select key, '', 2, false, false, '', '' from wanted
  returning id, key
), debit as (
  insert into platform.leg (number, transfer_id, ordinal, login, kind, requested_minor, amount_minor, is_exclusive, is_ready,
                            state, attempt)
  select nextval('platform.leg_number'), id, 1, login, 'fee_debit', -100, -100, true, true, 'SENDING', 1
  from made join wanted using (key)
  returning number
), credit as (
  insert into platform.leg (number, transfer_id, ordinal, login, kind, requested_minor, amount_minor, is_exclusive, is_ready,
                            state, attempt)
  select nextval('platform.leg_number'), id, 2, (3000000 + :client_id::bigint * 100 + 100)::text, 'fee_credit', 100, 100,
         false, false, 'INTENT', 0
  from made
)
insert into platform.attempt (leg_number, number, reference, state, sender_epoch, database, session, permit_expires_at)
select number, 1, 'P' || number, 'SENDING', 1, (select platform.database_identity()), 'pgbench', clock_timestamp() + interval '5 seconds' from debit;
commit;

-- Commit 2: platform records the answers of the debits and permits the credits.
begin;
select login, log_number, log_minor
from platform.account
where login in (select (3000000 + :client_id::bigint * 100 + s)::text from generate_series(1, 64) as s)
order by login
for no key update;
with batch as (
  select id, key from platform.transfer
  where key in (select 'fee-payment-' || (:last::bigint - 64 + s) from generate_series(1, 64) as s)
), applied as (
  update platform.leg
  set state = 'APPLIED', server = 'mt5', deal_id = nextval('deal_number'), applied_at = clock_timestamp(),
      changed_at = clock_timestamp(), next_scan_at = clock_timestamp() + interval '1 minute'
  from batch
  where transfer_id = batch.id and ordinal = 1 and state = 'SENDING'
  returning number, transfer_id, login, deal_id, key
), answered as (
  update platform.attempt
  set state = 'APPLIED', fenced_at = clock_timestamp(), answer_code = 0
  from applied
  where leg_number = applied.number and attempt.number = 1
), logged as (
  insert into platform.log_entry (login, number, kind, amount_minor, leg_number, transfer_id, key, server, deal_id, deal_at)
  select login, log_number + 1, 'fee_debit', -100, applied.number, transfer_id, key, 'mt5', deal_id, clock_timestamp()
  from applied join platform.account using (login)
  returning id, login, number
), published as (
  insert into platform.outbox (feed, number, type, subject, payload)
  select 'platform.movements', nextval('event_number'), 'pamm.platform.v1.AccountMoved', 'pamm.platform.movements.' || login,
         decode(repeat('01', 90), 'hex')
  from logged
), moved as (
  update platform.account
  set log_number = logged.number, log_entry_id = logged.id, log_minor = log_minor - 100
  from logged
  where account.login = logged.login
), permitted as (
  update platform.leg
  set is_ready = true, state = 'SENDING', attempt = 1, changed_at = clock_timestamp()
  from batch
  where transfer_id = batch.id and ordinal = 2 and state = 'INTENT'
  returning number
)
insert into platform.attempt (leg_number, number, reference, state, sender_epoch, database, session, permit_expires_at)
select number, 1, 'P' || number, 'SENDING', 1, (select platform.database_identity()), 'pgbench', clock_timestamp() + interval '5 seconds' from permitted;
commit;

-- Commit 3: platform records the answers of the credits.
begin;
select log_number, log_minor
from platform.account
where login = (3000000 + :client_id::bigint * 100 + 100)::text
for no key update;
with batch as (
  select id, key from platform.transfer
  where key in (select 'fee-payment-' || (:last::bigint - 64 + s) from generate_series(1, 64) as s)
), applied as (
  update platform.leg
  set state = 'APPLIED', server = 'mt5', deal_id = nextval('deal_number'), applied_at = clock_timestamp(),
      changed_at = clock_timestamp(), next_scan_at = clock_timestamp() + interval '1 minute'
  from batch
  where transfer_id = batch.id and ordinal = 2 and state = 'SENDING'
  returning number, transfer_id, login, deal_id, key
), answered as (
  update platform.attempt
  set state = 'APPLIED', fenced_at = clock_timestamp(), answer_code = 0
  from applied
  where leg_number = applied.number and attempt.number = 1
), logged as (
  insert into platform.log_entry (login, number, kind, amount_minor, leg_number, transfer_id, key, server, deal_id, deal_at)
  select login, log_number + row_number() over (order by applied.number), 'fee_credit', 100, applied.number, transfer_id, key,
         'mt5', deal_id, clock_timestamp()
  from applied join platform.account using (login)
  returning id, login, number
), published as (
  insert into platform.outbox (feed, number, type, subject, payload)
  select 'platform.movements', nextval('event_number'), 'pamm.platform.v1.AccountMoved', 'pamm.platform.movements.' || login,
         decode(repeat('01', 90), 'hex')
  from logged
)
update platform.account
set log_number = last.number, log_entry_id = last.id, log_minor = log_minor + 6400
from (select id, login, number from logged order by number desc limit 1) as last
where account.login = last.login;
commit;

-- Commit 4: fee records the payments with their credits.
begin;
update fee.fee_payment
set status = 'EXECUTED', amount_minor = 100, transfer_id = 1, deal_id = 1, executed_at = clock_timestamp(),
    credit_id = nextval('fee.payment_credit_id'), credit_deal_id = 1, credited_at = clock_timestamp()
where id > :last::bigint - 64 and id <= :last::bigint;
commit;

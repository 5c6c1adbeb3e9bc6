-- The durable work of one deposit as a script for pgbench: the statements that a deposit needs, in the four commits that the
-- protocol needs, on the tables, indexes and constraints of the service. Nothing happens between the commits, so this is
-- what the database alone can do, one deposit at a time. Left out: what comes after the answer (delivery of the event), the
-- gapless number of the event, the look-up of the Investor and its Master, and the check whether another row has the deal,
-- which unique indexes make too. Each client has accounts of its own: two deposits to one account take turns.

\set account random(1, 100)
\set login 3000000 + :client_id * 100 + :account

-- Commit 1: funding records the request before anything else happens.
begin;
select exists (
  select from funding.cashflow where login = :login and action = 'deposit' and state = 'POSTED'
) as is_funded;
insert into funding.cashflow (operation_id, action, login, amount_minor, currency, comment, state, deadline, created_at,
                              next_try_at, duplicate_scope_key, first_deposit_checked, min_deposit_minor)
values ('0198c0de-0000-7000-8000-' || lpad(to_hex(nextval('operation_number')), 12, '0'), 'deposit', :login, 100, 'USD',
        'b' || currval('operation_number'), 'RECORDED', clock_timestamp() + interval '20 seconds', clock_timestamp(),
        clock_timestamp() + interval '20 seconds', 'pgbench', false, 0)
on conflict do nothing
returning id as cashflow \gset
select operation_id
from funding.cashflow
where duplicate_scope_key = 'pgbench' and login = :login and action = 'deposit' and amount_minor = 100
  and currency = 'USD' and comment = 'b' || currval('operation_number') and state = 'POSTED'
  and finished_at >= clock_timestamp() - interval '24 hours'
order by finished_at desc
limit 1;
commit;

-- Commit 2: platform records the transfer and permits one send.
begin;
select log_number, log_minor, locked_by, reading_until
from platform.account
where login = :login
for no key update;
select number
from platform.leg
where login = :login and is_exclusive
  and (state in ('SENDING', 'UNKNOWN') or came_from in ('SENDING', 'UNKNOWN'))
order by number
limit 1;
insert into platform.transfer (key, lock_owner, leg_count, is_enqueued, releases_lock, send_before, comment, request_id)
values ('deposit-' || :cashflow::text, '', 1, false, false, clock_timestamp() + interval '20 seconds',
        'b' || currval('operation_number'), '')
returning id as transfer \gset
insert into platform.leg (number, transfer_id, ordinal, login, kind, requested_minor, amount_minor, is_exclusive, is_ready,
                          state, attempt)
values (nextval('platform.leg_number'), :transfer, 1, :login, 'deposit', 100, 100, true, true, 'SENDING', 1)
returning number as leg \gset
insert into platform.attempt (leg_number, number, reference, state, sender_epoch, session, permit_expires_at)
values (:leg, 1, 'P' || :leg::text, 'SENDING', 1, 'pgbench', clock_timestamp() + interval '5 seconds');
commit;

-- Here the trading platform would execute the deposit and answer a ticket.

-- Commit 3: platform records the answer, appends to the account's log and publishes the movement.
begin;
select log_number, log_minor
from platform.account
where login = :login
for no key update;
select state, attempt
from platform.leg
where number = :leg
for no key update;
update platform.attempt
set state = 'APPLIED', fenced_at = clock_timestamp(), answer_code = 0
where leg_number = :leg and number = 1;
update platform.leg
set state = 'APPLIED', server = 'mt5', deal_id = nextval('deal_number'), applied_at = clock_timestamp(),
    changed_at = clock_timestamp(), next_scan_at = clock_timestamp() + interval '1 minute'
where number = :leg and state = 'SENDING'
returning deal_id as deal \gset
with entry as (
  insert into platform.log_entry (login, number, kind, amount_minor, leg_number, transfer_id, key, server, deal_id, deal_at)
  select login, log_number + 1, 'deposit', 100, :leg::bigint, :transfer::bigint, 'deposit-' || :cashflow::text,
         'mt5', :deal::bigint, clock_timestamp()
  from platform.account
  where login = :login
  returning id, number
)
update platform.account
set log_number = entry.number, log_entry_id = entry.id, log_minor = log_minor + 100
from entry
where login = :login;
insert into platform.outbox (feed, number, type, subject, payload)
values ('platform.movements', nextval('platform.leg_number'), 'pamm.platform.v1.AccountMoved', 'pamm.platform.movements.' || :login::text,
        decode(repeat('01', 90), 'hex'));
commit;

-- Commit 4: funding settles the deposit; then the caller is answered.
update funding.cashflow
set state = 'POSTED', deal_id = :deal, finished_at = clock_timestamp()
where id = :cashflow and state = 'RECORDED';

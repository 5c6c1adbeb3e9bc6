-- The durable work of one deposit as a script for pgbench: the statements that the service makes for a set of one, in the four
-- commits that the protocol needs, on the tables, indexes and constraints of the service, planned as the service plans them.
-- Nothing happens between the commits, so this is what the database alone can do, one deposit at a time. Left out: what comes
-- after the answer (delivery of the event), and the gapless number of the event, for which the clients would wait for each
-- other: the service has one such commit at a time, for all deposits that wait. Every Investor is known, and each client has
-- accounts of its own: two deposits to one account take turns.

\set account random(1, 100)
\set login 3000000 + :client_id * 100 + :account

-- Commit 1: funding records the request before anything else happens.
with considered as (
  select requested.*, known.id as known_id, funded.id is not null as is_funded,
         has_asked or facts.login is not null as has_facts,
         case when has_asked then asked_minimum else facts.minimum end as minimum,
         equal.id as equal_id, equal.operation_id as equal_operation, equal.deal_id as equal_deal,
         equal.finished_at >= at - 86400000 * interval '1 millisecond' as is_recent,
         keyed.id as keyed_id, keyed.operation_id as keyed_operation,
         keyed.state <> 'REFUSED' and coalesce(keyed.finished_at >= kept_since, true) as has_key,
         keyed.action = requested.action and keyed.login = requested.login and keyed.amount_minor = amount
           and keyed.comment = requested.comment as is_same,
         keyed.finished_at is null and keyed.deadline > at as is_in_progress
  from unnest(
         array['0198c0de-0000-7000-8000-' || lpad(to_hex(nextval('operation_number')), 12, '0')]::text[],
         array['deposit']::text[],
         array[:login]::text[],
         array[100]::bigint[],
         array['b' || currval('operation_number')]::text[],
         array['pgbench']::text[],
         array[false]::boolean[],
         array[clock_timestamp() + interval '20 seconds']::timestamptz[],
         array[clock_timestamp()]::timestamptz[],
         array[false]::boolean[],
         array[null]::bigint[],
         array[true]::boolean[],
         array['pgbench']::text[],
         array[sha256(currval('operation_number')::text::bytea)]::bytea[],
         array[clock_timestamp() - interval '30 days']::timestamptz[]
       ) as requested (operation_id, action, login, amount, comment, scope_key, rejects, deadline, at,
                       has_asked, asked_minimum, may_be_first, client, hash, kept_since)
       left join lateral (
         select id from funding.cashflow where operation_id = requested.operation_id
         union all
         select cashflow_id from funding.cashflow_repetition where command_id = requested.operation_id
         limit 1
       ) as known on true
       left join lateral (
         select id, operation_id, action, login, amount_minor, comment, state, deadline, finished_at
         from funding.cashflow
         where cashflow.key_client = requested.client and cashflow.key_hash = requested.hash
         order by key_follows desc
         limit 1
       ) as keyed on true
       left join lateral (
         select id
         from funding.cashflow
         where login = requested.login and action = 'deposit' and state = 'POSTED'
         limit 1
       ) as funded on true
       left join lateral (
         select known_investor.login, min_deposit_minor as minimum
         from funding.known_investor left join funding.known_master on known_master.login = master_login
         where known_investor.login = requested.login
           and (master_login is null or known_master.login is not null)
         limit 1
       ) as facts on true
       left join lateral (
         select id, operation_id, deal_id, finished_at
         from funding.cashflow
         where duplicate_scope_key = scope_key and login = requested.login and action = requested.action
           and amount_minor = amount and comment = requested.comment
           and duplicate_scope_key is not null and (deal_id is not null or state = 'RECORDED')
         order by follows desc
         limit 1
       ) as equal on true
), inserted as (
  insert into funding.cashflow (operation_id, action, login, amount_minor, comment, duplicate_scope_key, state,
                                deadline, created_at, next_try_at, first_deposit_checked, min_deposit_minor, follows,
                                possible_duplicate_of, key_client, key_hash, key_follows)
  select operation_id, action, login, amount, comment, scope_key, 'RECORDED', deadline, at, deadline,
         case when action = 'deposit' then not is_funded and minimum is not null end,
         case when action = 'deposit' then coalesce(minimum, 0) end,
         coalesce(equal_id, 0), case when is_recent then equal_deal end,
         client, hash, coalesce(keyed_id, 0)
  from considered
  where known_id is null and has_key is not true and has_facts and (action = 'withdraw' or is_funded or may_be_first)
    and (equal_id is null or (equal_deal is not null and not (rejects and is_recent)))
  order by scope_key nulls first, login, action, amount, comment, operation_id
  on conflict do nothing
  returning id, operation_id
), repetitions as (
  insert into funding.cashflow_repetition (command_id, cashflow_id)
  select operation_id, keyed_id from considered where known_id is null and has_key and is_same
  order by operation_id
  on conflict do nothing
)
select inserted.id as cashflow, known_id, keyed_id, keyed_operation, has_key, is_same, is_in_progress, has_facts, is_funded, minimum, equal_operation, equal_deal, is_recent
from considered left join inserted on inserted.operation_id = considered.operation_id \gset

-- Commit 2: platform records the transfer and permits one send.
begin;
select login, role, platform_group, reads_from, log_number, log_entry_id, log_minor, undecided_from,
       locked_by, lock_number, lock_granted_at is not null as is_granted,
       coalesce(reading_until > clock_timestamp(), false) as is_being_read, clock_timestamp() as seen_at
from platform.account
where login = any (array[:login]::text[])
order by login
for no key update skip locked;
select position.login as behind, obstacle.number as leg
from unnest(
  array[:login]::text[],
  array[1125899906842624]::bigint[],
  array[null]::text[],
  array[null]::bigint[]
) as position (login, number, locked_by, lock_number)
cross join lateral (
  select number
  from (
    select number
    from platform.leg
    where login = position.login and is_exclusive and number <> position.number
      and (state in ('SENDING', 'UNKNOWN') or came_from in ('SENDING', 'UNKNOWN'))
    union all
    select leg.number
    from platform.leg
    join platform.transfer on transfer.id = transfer_id
    where login = position.login and is_exclusive and is_ready and state = 'INTENT'
      and leg.number < position.number and next_scan_at <= clock_timestamp()
      and (attempt > 0 or send_before is null or send_before > clock_timestamp())
      and (position.locked_by is null or lock_owner = position.locked_by or leg.number < position.lock_number)
  ) as before
  order by number
  limit 1
) as obstacle
union all
select null, nextval('platform.leg_number') from platform.permit_gate, generate_series(1, 1) as leg \gset
with recorded as (
  insert into platform.transfer (key, lock_owner, leg_count, is_enqueued, releases_lock, send_before, comment,
                                 request_id)
  select key, lock_owner, leg_count, is_enqueued, releases_lock, send_before, comment, request_id
  from unnest(
    array['deposit-' || :cashflow::text]::text[],
    array['']::text[],
    array[1]::smallint[],
    array[false]::boolean[],
    array[false]::boolean[],
    array[clock_timestamp() + interval '20 seconds']::timestamptz[],
    array['b' || currval('operation_number')]::text[],
    array['']::text[]
  ) as ordered (key, lock_owner, leg_count, is_enqueued, releases_lock, send_before, comment, request_id)
  order by key
  on conflict (key) do nothing
  returning id, key
), added as (
  insert into platform.leg (number, transfer_id, ordinal, login, kind, requested_minor, amount_minor, is_exclusive, is_ready,
                            state, refusal, attempt)
  select number, id, ordinal, login, kind, requested, amount, is_exclusive, is_ready, state, refusal, attempt
  from unnest(
    array['deposit-' || :cashflow::text]::text[],
    array[:leg]::bigint[],
    array[1]::smallint[],
    array[:login]::text[],
    array['deposit']::text[],
    array[100]::bigint[],
    array[100]::bigint[],
    array[true]::boolean[],
    array[true]::boolean[],
    array['SENDING']::text[],
    array[null]::text[],
    array[1]::smallint[]
  ) as ordered (of_key, number, ordinal, login, kind, requested, amount, is_exclusive, is_ready, state, refusal, attempt)
  join recorded on key = of_key
  returning number
), permitted as (
  insert into platform.attempt (leg_number, number, reference, state, sender_epoch, database, session, permit_expires_at)
  select leg, of_leg, reference, 'SENDING', epoch, (select platform.database_identity()), session, clock_timestamp() + ms * interval '1 millisecond'
  from unnest(
    array[:leg]::bigint[],
    array[1]::smallint[],
    array['P' || :leg::text]::text[],
    array[1]::bigint[],
    array['pgbench']::text[],
    array[2000]::integer[]
  ) as permit (leg, of_leg, reference, epoch, session, ms)
  join added on number = leg
)
select id, key from recorded;
commit;

-- Here the trading platform would execute the deposit and answer a ticket: the number of the operation.

-- Commit 3: platform records the answer, appends to the account's log and publishes the movement.
begin;
with answer as (
  select leg_number, of_attempt, ticket, of_key, releases, rank
  from unnest(
    array[:leg]::bigint[],
    array[1]::smallint[],
    array[currval('operation_number')]::bigint[],
    array['deposit-' || :cashflow::text]::text[],
    array[null]::text[]
  ) with ordinality as answer (leg_number, of_attempt, ticket, of_key, releases, rank)
  where not exists (select from platform.leg where leg.server = 'mt5' and leg.deal_id = ticket)
    and not exists (
      select from platform.log_entry
      where log_entry.server = 'mt5' and log_entry.deal_id = ticket and log_entry.kind <> 'amendment'
    )
    and not exists (
      select from platform.adopted_deal where adopted_deal.server = 'mt5' and adopted_deal.deal_id = ticket
    )
), locked as (
  select login as of_login, role, log_number as last_number, clock_timestamp() as at
  from platform.account
  where login = any (array[:login]::text[])
  order by login
  for no key update
), applied as (
  update platform.leg
  set state = 'APPLIED', server = 'mt5', deal_id = ticket, applied_at = at, changed_at = clock_timestamp(),
      next_scan_at = coalesce(clock_timestamp() + 60000 * interval '1 millisecond', next_scan_at)
  from answer
  cross join locked
  where number = leg_number and attempt = of_attempt and login = of_login
    and state in ('SENDING', 'UNKNOWN') and deal_id is null
    and (role <> 'master' or last_number = (select log_number from platform.account as begun where begun.login = of_login))
  returning leg.number, leg.attempt, leg.transfer_id, leg.ordinal, leg.login, leg.kind, leg.amount_minor, ticket, of_key,
            releases, rank, role, last_number, at
), ended as (
  update platform.attempt
  set state = case when state in ('SENDING', 'UNKNOWN') then 'APPLIED' else state end,
      fenced_at = coalesce(fenced_at, clock_timestamp()), answer_code = 0
  from applied
  where attempt.leg_number = applied.number and attempt.number = applied.attempt
), readied as (
  update platform.leg
  set is_ready = true, next_scan_at = clock_timestamp(), changed_at = clock_timestamp()
  from applied
  where leg.transfer_id = applied.transfer_id and applied.ordinal = 1 and not leg.is_ready and leg.state = 'INTENT'
), added as (
  insert into platform.log_entry (login, number, kind, amount_minor, leg_number, transfer_id, key, server, deal_id, deal_at)
  select login, last_number + row_number() over (partition by login order by rank), kind, amount_minor, number,
         transfer_id, of_key, 'mt5', ticket, at
  from applied
  where role <> 'master'
  order by rank
  returning id, number, leg_number, amount_minor
), unlogged as (
  insert into platform.unlogged_leg (login, leg_number)
  select login, number from applied where role = 'master'
), released as (
  insert into platform.released_lock (lock_owner, login)
  select releases, login from applied where releases is not null
  on conflict (lock_owner) do nothing
), moved as (
  update platform.account
  set log_number = log_number + entries, log_entry_id = coalesce(last_id, log_entry_id), log_minor = log_minor + amount,
      locked_by = case when locked_by = released_by then null else locked_by end,
      lock_number = case when locked_by = released_by then null else lock_number end,
      lock_granted_at = case when locked_by = released_by then null else lock_granted_at end
  from (
    select applied.login as of_login, count(added.id) as entries, max(added.id) as last_id,
           coalesce(sum(added.amount_minor), 0)::bigint as amount, max(applied.releases) as released_by
    from applied
    left join added on added.leg_number = applied.number
    group by applied.login
    having count(added.id) > 0 or max(applied.releases) is not null
  ) as change
  where login = of_login
)
select applied.number, at, role, added.id as entry_id, added.number as entry_number
from applied
left join added on added.leg_number = applied.number
order by rank;
insert into platform.outbox (feed, number, type, subject, payload, request_id)
select feed, nextval('event_number'), type, subject, payload, request_id
from unnest(
  array['platform.movements']::text[],
  array['pamm.platform.v1.AccountMoved']::text[],
  array['pamm.platform.movements.' || :login::text]::text[],
  array[decode(repeat('01', 90), 'hex')]::bytea[],
  array['']::text[]
) with ordinality as event (feed, type, subject, payload, request_id, position)
order by position
returning feed, number, id;
commit;

-- Commit 4: funding settles the deposit; then the caller is answered.
update funding.cashflow
set state = 'POSTED', doubt = null, deal_id = deal, finished_at = at
from unnest(
  array[:cashflow]::bigint[],
  array[currval('operation_number')]::bigint[],
  array[clock_timestamp()]::timestamptz[]
) as executed (executed_id, deal, at)
where id = executed_id and state = 'RECORDED';

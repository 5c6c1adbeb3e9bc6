-- A withdrawal that may wait until the Master of its Investor is flat, when its caller has asked for that. WANTED: its first try runs, as of any other. WAITING:
-- nothing runs, it has no account lock, and one change of this state decides what becomes of it: a try, a caller that cancels it, or
-- its expiry. RUNNING: a try has begun. The row keeps the state in which it has ended.
alter table cashflow
  add column queue_state    text,
  -- It is executed by then, or not at all. While it waits, deadline and next_try_at are this instant too: a version of the service
  -- that knows nothing of the queue leaves it alone until then, and refuses it then.
  add column queue_until    timestamptz,
  -- Since when the Master has been flat without a break; null while it is not.
  add column queue_ready_at timestamptz,
  -- No try before this instant: the last one was refused although the Master seemed flat.
  add column queue_look_at  timestamptz;

alter table cashflow add constraint cashflow_queue check (
  (queue_state is null) = (queue_until is null)
  and (queue_state is null or (action = 'withdraw' and queue_state in ('WANTED', 'WAITING', 'RUNNING')))
  and (queue_state is distinct from 'WAITING' or state in ('RECORDED', 'REFUSED'))
  and (queue_state is not null or num_nonnulls(queue_ready_at, queue_look_at) = 0)
) not valid;

-- A version that knows nothing of the queue reads `state`, and begins a try when a caller repeats the request. It knows no such state as QUEUED, so it answers that the outcome is not known.
-- When the time is over it reads what is recorded, and refuses the operation.
create or replace view cashflow_row as
  select id, operation_id as "operationId", action, login, amount_minor as "amountMinor", currency, comment,
         case when queue_state = 'WAITING' and state = 'RECORDED' and queue_until > clock_timestamp() then 'QUEUED' else state end as state, doubt,
         deal_id as "dealId", possible_duplicate_of as "possibleDuplicateOf", first_deposit_checked as "firstDepositChecked",
         min_deposit_minor as "minDepositMinor", refusal, deadline, created_at as "createdAt", finished_at as "finishedAt",
         tries, queue_state as "queueState", queue_until as "queueUntil", state as "recordedState"
  from cashflow;

-- No caller waits for an operation of the queue, so its outcome is pending until it is known, or until platform reports doubt.
create function cashflow_outcome(state text, doubt text, deadline timestamptz, next_try_at timestamptz, queue_state text) returns text
  language sql immutable as $$
  select case when queue_state in ('WAITING', 'RUNNING') and doubt is null and state not in ('POSTED', 'REFUSED') then 'pending'
              else cashflow_outcome(state, doubt, deadline, next_try_at) end
$$;

create or replace function note_cashflows() returns trigger language plpgsql set search_path from current as $$
declare
  changed bigint[];
begin
  if tg_op = 'UPDATE' then
    select array_agg(id) into changed
    from after join before using (id)
    where cashflow_outcome(before.state, before.doubt, before.deadline, before.next_try_at, before.queue_state)
          is distinct from cashflow_outcome(after.state, after.doubt, after.deadline, after.next_try_at, after.queue_state);
    if changed is null then
      return null;
    end if;
  end if;
  insert into state_change (kind, state, subject, login, operation_id, amount_minor, deal_id, reason)
  select case action when 'deposit' then 'deposit' else 'withdrawal' end,
         cashflow_outcome(state, doubt, deadline, next_try_at, queue_state), operation_id, login, operation_id,
         amount_minor, coalesce(deal_id, 0), coalesce(refusal ->> 'code', '')
  from after
  where changed is null or id = any (changed)
  order by id;
  return null;
end
$$;

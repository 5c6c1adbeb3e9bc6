\ir ../../kernel/states/state-changes.sql

-- The outcome that the ledger of operations shows. After its deadline an open operation is unknown; the recovery job, whose first try moves
-- next_try_at, is the first to see that.
create function cashflow_outcome(state text, doubt text, deadline timestamptz, next_try_at timestamptz) returns text
  language sql immutable as $$
  select case when state = 'POSTED' then 'executed'
              when state = 'REFUSED' then 'not_executed'
              when doubt is not null then lower(doubt)
              when next_try_at > deadline then 'unknown'
              else 'pending' end
$$;

-- Of all rows of a statement at once: deposits are recorded and finished together, and a trigger for each row would cost four times as much.
create function note_cashflows() returns trigger language plpgsql set search_path from current as $$
declare
  changed bigint[];
begin
  if tg_op = 'UPDATE' then
    select array_agg(id) into changed
    from after join before using (id)
    where cashflow_outcome(before.state, before.doubt, before.deadline, before.next_try_at)
          is distinct from cashflow_outcome(after.state, after.doubt, after.deadline, after.next_try_at);
    if changed is null then
      return null;
    end if;
  end if;
  insert into state_change (kind, state, subject, login, operation_id, amount_minor, deal_id, reason)
  select case action when 'deposit' then 'deposit' else 'withdrawal' end,
         cashflow_outcome(state, doubt, deadline, next_try_at), operation_id, login, operation_id,
         amount_minor, coalesce(deal_id, 0), coalesce(refusal ->> 'code', '')
  from after
  where changed is null or id = any (changed)
  order by id;
  return null;
end
$$;

create or replace trigger note_insert after insert on cashflow referencing new table as after
  for each statement execute function note_cashflows();
create or replace trigger note_update after update on cashflow referencing old table as before new table as after
  for each statement execute function note_cashflows();

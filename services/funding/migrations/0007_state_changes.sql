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

create function note_cashflow() returns trigger language plpgsql set search_path from current as $$
begin
  insert into state_change (kind, state, subject, login, operation_id, amount_minor, deal_id, reason)
  values (case new.action when 'deposit' then 'deposit' else 'withdrawal' end,
          cashflow_outcome(new.state, new.doubt, new.deadline, new.next_try_at), new.operation_id, new.login, new.operation_id,
          new.amount_minor, coalesce(new.deal_id, 0), coalesce(new.refusal ->> 'code', ''));
  return null;
end
$$;

create or replace trigger note_insert after insert on cashflow for each row execute function note_cashflow();
create or replace trigger note_update after update on cashflow for each row
  when (cashflow_outcome(old.state, old.doubt, old.deadline, old.next_try_at)
        is distinct from cashflow_outcome(new.state, new.doubt, new.deadline, new.next_try_at))
  execute function note_cashflow();

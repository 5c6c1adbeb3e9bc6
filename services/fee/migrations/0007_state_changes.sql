\ir ../../kernel/states/state-changes.sql
\ir ../../kernel/states/reviews.sql

-- The listing shows payments that were executed and moved money.
create function note_payment() returns trigger language plpgsql set search_path from current as $$
begin
  insert into state_change (kind, state, subject, login, master_login, operation_id, amount_minor, deal_id)
  values ('fee', new.status, new.id, new.investor_login, new.master_login,
          case when new.suffix like 'WD%' then substr(new.suffix, 3) else '' end, new.amount_minor, new.deal_id);
  return null;
end
$$;

create or replace trigger note_insert after insert on fee_payment for each row
  when (new.status = 'EXECUTED' and new.amount_minor > 0) execute function note_payment();
create or replace trigger note_update after update on fee_payment for each row
  when (new.status = 'EXECUTED' and new.amount_minor > 0 and old.status is distinct from new.status)
  execute function note_payment();

\ir ../../kernel/states/state-changes.sql
\ir ../../kernel/states/reviews.sql

-- The transfers of an exit are legs of the operation that has begun it.
create function note_exit_transfer() returns trigger language plpgsql set search_path from current as $$
begin
  insert into state_change (kind, state, subject, login, master_login, operation_id, amount_minor, deal_id)
  select 'exit', case new.state when 'OPEN' then 'pending' when 'APPLIED' then 'executed' else 'not_executed' end,
         new.subscription_id || '-' || new.number, investor_login, new.master_login,
         coalesce((select exit.command_id from exit where exit.subscription_id = new.subscription_id), ''),
         -new.amount_minor, coalesce(new.deal_id, 0)
  from subscription where subscription.id = new.subscription_id;
  return null;
end
$$;

create or replace trigger note_insert after insert on exit_transfer for each row execute function note_exit_transfer();
create or replace trigger note_update after update on exit_transfer for each row
  when (old.state is distinct from new.state) execute function note_exit_transfer();

create function note_subscription() returns trigger language plpgsql set search_path from current as $$
begin
  insert into state_change (kind, state, subject, login, master_login, operation_id)
  values ('subscription', new.status, new.id, new.investor_login, new.master_login,
          case when new.status = 'ACTIVE' then new.command_id
               else coalesce((select exit.command_id from exit where exit.subscription_id = new.id), '') end);
  return null;
end
$$;

create or replace trigger note_insert after insert on subscription for each row
  when (new.status in ('ACTIVE', 'PAUSED', 'CANCELLED')) execute function note_subscription();
create or replace trigger note_update after update on subscription for each row
  when (new.status in ('ACTIVE', 'PAUSED', 'CANCELLED') and old.status is distinct from new.status)
  execute function note_subscription();

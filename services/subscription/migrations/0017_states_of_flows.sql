-- A flow waits to be mirrored from its insert on, also when a mirror that carried it was refused.
create function note_flow() returns trigger language plpgsql set search_path from current as $$
begin
  insert into state_change (kind, state, subject, login, master_login, amount_minor)
  select 'mirror', 'pending', new.id, investor_login, new.master_login, new.amount_minor
  from subscription where subscription.id = new.subscription_id;
  return null;
end
$$;

create or replace trigger note_insert after insert on flow for each row execute function note_flow();

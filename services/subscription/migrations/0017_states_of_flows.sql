-- A flow waits to be mirrored from its insert on, also when a mirror that carried it was refused. All rows of a statement at once: flows of a
-- batch are recorded together.
create function note_flows() returns trigger language plpgsql set search_path from current as $$
begin
  insert into state_change (kind, state, subject, login, master_login, amount_minor)
  select 'mirror', 'pending', added.id, investor_login, added.master_login, added.amount_minor
  from added join subscription on subscription.id = added.subscription_id
  order by added.id;
  return null;
end
$$;

create or replace trigger note_insert after insert on flow referencing new table as added
  for each statement execute function note_flows();

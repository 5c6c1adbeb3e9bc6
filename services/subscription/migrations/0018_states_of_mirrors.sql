create function note_mirror() returns trigger language plpgsql set search_path from current as $$
begin
  insert into state_change (kind, state, subject, login, master_login, amount_minor, deal_id)
  select 'mirror', 'executed', flow.id, investor_login, new.master_login, flow.amount_minor, new.deal_id
  from flow join subscription on subscription.id = flow.subscription_id
  where flow.mirror_id = new.id
  order by flow.id;
  return null;
end
$$;

create or replace trigger note_update after update on mirror for each row
  when (new.state = 'APPLIED' and old.state is distinct from new.state) execute function note_mirror();

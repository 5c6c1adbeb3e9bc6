create function note_review() returns trigger language plpgsql set search_path from current as $$
begin
  insert into state_change (kind, state, subject, login, amount_minor, deal_id, reason)
  values ('review', lower(new.state), tg_table_schema || '-' || new.id, new.login, new.amount_minor, new.deal_id, new.reason);
  return null;
end
$$;

create or replace trigger note_insert after insert on review_case for each row execute function note_review();
create or replace trigger note_update after update on review_case for each row
  when (old.state is distinct from new.state) execute function note_review();

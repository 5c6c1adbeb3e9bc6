-- Takes privileges on a table from every role but its owner: default privileges have granted them.
create function withhold(privileges text, relation regclass) returns void language plpgsql as $$
declare
  grantee text;
begin
  for grantee in
    select distinct case acl.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(acl.grantee)) end
    from pg_class, aclexplode(relacl) as acl
    where pg_class.oid = relation and acl.grantee <> relowner
  loop
    execute format('revoke %s on table %s from %s', privileges, relation, grantee);
  end loop;
end
$$;

-- Declares a table append-only: its writer may insert and select. The triggers also bind the owner and a superuser, whose mistakes
-- would not be noticed. Called again for a table that is append-only already, it takes the privileges again.
create function append_only(relation regclass) returns void language plpgsql as $$
begin
  perform withhold('update, delete, truncate', relation);
  if not exists (select from pg_trigger where tgrelid = relation and tgname = 'append_only') then
    execute format('create trigger append_only before update or delete on %s for each row execute function refuse_change()', relation);
  end if;
  execute format('create or replace trigger append_only_whole before truncate on %s for each statement execute function refuse_change()', relation);
end
$$;

-- Only a function of the owner that sets pamm.deletes_expired for its transaction deletes rows, of an age at which no process reads them.
create function refuse_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and current_setting('pamm.deletes_expired', true) = 'yes'
    and current_user = (select pg_get_userbyid(relowner) from pg_class where oid = tg_relid) then
    return old;
  end if;
  raise exception '% is append-only', tg_table_name;
end
$$;

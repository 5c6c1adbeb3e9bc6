-- The roles and schemas of the services, in the database that this connection uses:
--
--   pamm_<service>_owner   owns the schema of the service, and only migrates it
--   pamm_<service>         the service runs as it: it reads and writes rows of its own schema, and changes no table
--
-- Run it as a superuser, or as the owner of the database that may create roles, before the first migration and after every upgrade: it may
-- be repeated, also while the services run. The passwords are set separately. `make run` and docker-compose.yml execute this file, too.
do $$
declare
  service text;
  owner text;
  writer text;
  schema_owner text;
  relation text;
begin
  -- Objects of a schema cannot take the place of those that this block means.
  perform set_config('search_path', 'pg_catalog, pg_temp', true);
  execute format('revoke all on database %I from public', current_database());
  revoke all on schema public from public;

  foreach service in array array['account', 'edge', 'fee', 'funding', 'platform', 'subscription'] loop
    owner := 'pamm_' || service || '_owner';
    writer := 'pamm_' || service;
    if not exists (select from pg_roles where rolname = owner) then
      execute format('create role %I login', owner);
    end if;
    if not exists (select from pg_roles where rolname = writer) then
      execute format('create role %I login', writer);
    end if;
    -- An administrator who is no superuser has to be a member of what it gives objects to.
    if not pg_has_role(current_user, owner, 'usage') then
      execute format('grant %I to current_user with inherit true, set true', owner);
    end if;
    -- Neither creates temporary tables, which would come before the tables of the schema.
    execute format('revoke all on database %I from %I, %I', current_database(), owner, writer);
    execute format('grant connect on database %I to %I, %I', current_database(), owner, writer);

    select pg_get_userbyid(nspowner) into schema_owner from pg_namespace where nspname = service;
    if schema_owner is null then
      execute format('create schema %I authorization %I', service, owner);
    elsif schema_owner <> owner then
      raise exception 'schema % belongs to %: give it and its objects to % first', service, schema_owner, owner;
    end if;

    -- For what later migrations create.
    execute format('alter default privileges for role %I revoke execute on functions from public', owner);
    execute format('alter default privileges for role %I in schema %I grant select, insert, update, delete on tables to %I', owner, service, writer);
    execute format('alter default privileges for role %I in schema %I grant usage, select, update on sequences to %I', owner, service, writer);
    execute format('alter default privileges for role %I in schema %I grant execute on functions to %I', owner, service, writer);

    -- For what exists.
    execute format('grant usage on schema %I to %I', service, writer);
    execute format('grant select, insert, update, delete on all tables in schema %I to %I', service, writer);
    execute format('grant usage, select, update on all sequences in schema %I to %I', service, writer);
    execute format('revoke execute on all functions in schema %I from public', service);
    execute format('grant execute on all functions in schema %I to %I', service, writer);
    -- What migrations have withheld: see services/kernel/postgres/append-only.sql.
    for relation in
      select format('%I.%I', service, relname)
      from pg_trigger
      join pg_class on pg_class.oid = tgrelid
      where relnamespace = (select oid from pg_namespace where nspname = service) and tgname = 'append_only'
    loop
      execute format('revoke update, delete, truncate on table %s from %I', relation, writer);
    end loop;
    if to_regclass(format('%I.schema_migration', service)) is not null then
      execute format('revoke insert, update, delete on table %I.schema_migration from %I', service, writer);
    end if;
  end loop;
end
$$;

-- What clients say of an account beside its registration.
create table profile (
  id           bigint generated always as identity primary key,
  kind         text not null check (kind in ('MASTER', 'INVESTOR')),
  -- Null while the account is being created, and when that was refused.
  login        text unique references account (login),
  -- The request for the account that has brought it; null for one that was registered, or got its profile later.
  operation_id text unique check (operation_id <> ''),
  -- The client's own id, unique in the role: the request reserves it before an account is created.
  external_id  text check (external_id <> ''),
  metadata     jsonb not null default '{}' check (jsonb_typeof(metadata) = 'object'),
  -- Since it was changed; before, that of the request for the account counts.
  email        text check (email <> ''),
  constraint profile_external_id unique (kind, external_id),
  check (num_nonnulls(login, operation_id) > 0)
);
create index profile_by_email on profile (lower(email)) where email is not null;

-- The name of an Investor since it was renamed. The row keeps the one under which it was registered.
alter table investor add column alias text;

-- A function of the owner renames an Investor, or ends its names as an erasure; nothing else changes.
create or replace function keep_investor() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and new.name in (old.name, 'erased') and to_jsonb(new) - 'name' - 'alias' = to_jsonb(old) - 'name' - 'alias'
    and current_user = (select pg_get_userbyid(relowner) from pg_class where oid = tg_relid) then
    return new;
  end if;
  raise exception 'investor is append-only';
end
$$;

create function rename_investor(renamed text, to_name text) returns void
  language sql security definer set search_path = account, pg_temp as $$
  update investor set alias = to_name
  where login = renamed and not exists (select from erasure where erasure.login = renamed)
$$;

-- Also for the previous version, which knows of no profile.
create or replace function erase_investor_name(erased text) returns void
  language sql security definer set search_path = account, pg_temp as $$
  -- A change of the Investor that is in progress ends before, and its rows are erased too.
  select pg_advisory_xact_lock(hashtextextended(erased, 0));
  update investor set name = 'erased', alias = null
  where login = erased and exists (select from erasure where erasure.login = erased);
  delete from profile where login = erased and exists (select from erasure where erasure.login = erased)
$$;

-- Forward only: once applied, this file must not change. Rules: CONTRIBUTING.md, "A new migration".

-- The erasure of an Investor's personal data: requested, and erased here, in the commit that inserts it; erased on the trading platform
-- afterwards. It stays as the evidence, and is what has to be repeated after a restore of an older database.
create table erasure (
  login         text primary key references investor (login),
  -- Owner of the API key of the operator.
  requested_by  text not null check (requested_by <> ''),
  requested_at  timestamptz not null,
  erased_at     timestamptz,
  -- Whether the trading platform has shown the account; null until it was asked.
  on_platform   boolean,
  next_try_at   timestamptz not null,
  tries         integer not null default 0 check (tries >= 0),
  -- Why the last try has failed.
  reason        text,
  check ((erased_at is null) = (on_platform is null))
);
create index erasure_unfinished on erasure (next_try_at) where erased_at is null;

-- The name of an Investor is the one thing of its row that can end, and only as an erasure: nothing else changes, also not by mistake.
create function keep_investor() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and new.name = 'erased' and to_jsonb(new) - 'name' = to_jsonb(old) - 'name'
    and current_user = (select pg_get_userbyid(relowner) from pg_class where oid = tg_relid) then
    return new;
  end if;
  raise exception 'investor is append-only';
end
$$;
create or replace trigger append_only before update or delete on investor for each row execute function keep_investor();

-- The service cannot change the table itself.
create function erase_investor_name(erased text) returns void language sql security definer set search_path = account, pg_temp as $$
  update investor set name = 'erased' where login = erased and exists (select from erasure where erasure.login = erased)
$$;

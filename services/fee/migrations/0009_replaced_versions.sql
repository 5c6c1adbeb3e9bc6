-- Versions that are in force at no instant any more, not even at their start, because a newer entry begins then or before. It stays so for good,
-- and a listing shows it without a read of the newer entries. A trigger notes them, because the previous release adds entries too.
-- A version of release 0.1.0 that changed the switch alone is not noted: a rate that begins before it does not replace it.
create table fee_version_replaced (
  version_id bigint primary key references fee_version
);
select append_only('fee_version_replaced');

-- Of an Investor, from an entry on that no older one outlasts.
create function note_replaced_versions(investor text, first_id bigint) returns void language sql set search_path from current as $$
  insert into fee_version_replaced (version_id)
  select latest.version_id
  from (
    -- The last entry that lets the version begin at its start: its own one, or one that continues it.
    select distinct on (entry.version_id) entry.version_id, entry.rate_from, entry.earliest_newer
    from (
      select coalesce(restates, id) as version_id, id, rate_from,
             min(rate_from) over (order by id rows between 1 following and unbounded following) as earliest_newer
      from fee_version
      where investor_login = investor and id >= first_id and rate_from is not null
    ) as entry
    join fee_version version on version.id = entry.version_id and version.rate_from = entry.rate_from and version.cancels is null
    order by entry.version_id, entry.id desc
  ) as latest
  where latest.earliest_newer <= latest.rate_from
  on conflict do nothing
$$;

-- Entries that are older than the one in force at the start of what is added begin before it, or are replaced already.
create function note_replaced() returns trigger language plpgsql set search_path from current as $$
begin
  perform note_replaced_versions(command.investor_login, coalesce((
    select begun.id from fee_version begun
    where (begun.investor_login, begun.id) > (command.investor_login, 0)
      and (begun.investor_login, begun.id) < (command.investor_login, command.first_id) and begun.rate_from <= command.start
    order by begun.investor_login desc, begun.id desc limit 1
  ), 0))
  from (
    select investor_login, min(id) as first_id, min(rate_from) as start
    from added
    where rate_from is not null
    group by investor_login
  ) as command;
  return null;
end
$$;

create or replace trigger note_replaced after insert on fee_version referencing new table as added
  for each statement execute function note_replaced();

-- State changes of all services in one order, for callers. They are inserted under one lock, so a reader that has seen an id has seen, or can
-- see, every lower one. Ids are not dense, and are raised in another database.
create table event (
  id           bigint generated always as identity primary key,
  -- Its entry in the log of the service that it comes from: the same when the event is read again after a restore of this database.
  key          text not null unique check (key <> ''),
  -- deposit.executed
  type         text not null check (type ~ '^[a-z]+\.[a-z_]+$'),
  state        text not null check (state <> ''),
  subject      text not null check (subject <> ''),
  occurred_at  timestamptz not null,
  recorded_at  timestamptz not null default clock_timestamp(),
  login        text not null,
  master_login text not null,
  operation_id text not null,
  amount_minor bigint,
  deal_id      bigint not null,
  reason       text not null
);

create index event_by_type on event (type, id);

-- Up to which id events are removed; one row.
create table event_removal (
  is_only         boolean primary key default true check (is_only),
  removed_through bigint not null default 0 check (removed_through >= 0)
);
insert into event_removal default values;

\ir ../../kernel/feed/feed.sql

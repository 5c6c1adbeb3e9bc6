-- What this service tells of. A row is written in the transaction of the change; the relay numbers it after commit.
create table outbox (
  id           bigint generated always as identity primary key,
  feed         text not null check (feed <> ''),
  type         text not null check (type <> ''),
  -- Set on what JetStream carries too; the rest is only read.
  subject      text check (subject <> ''),
  payload      bytea not null,
  request_id   text not null default '',
  told_at      timestamptz not null default clock_timestamp(),
  -- 1, 2, 3 ... per feed without gaps, in the order in which readers file.
  number       bigint check (number > 0),
  published_at timestamptz,
  unique (feed, number),
  check (published_at is null or (number is not null and subject is not null))
);

create index outbox_to_number on outbox (id) where number is null;
create index outbox_to_publish on outbox (id) where subject is not null and published_at is null and number is not null;

-- How far this service has filed the feeds of others: the last entry, by number and by identity.
create table feed_cursor (
  feed     text primary key,
  number   bigint not null check (number >= 0),
  entry_id bigint not null check (entry_id >= 0),
  moved_at timestamptz not null default clock_timestamp(),
  check ((number = 0) = (entry_id = 0))
);

-- Entries that could not be understood, kept as they came. Their feed stands still until the code understands them.
create table feed_poison (
  feed     text not null,
  number   bigint not null check (number > 0),
  entry_id bigint not null,
  type     text not null,
  payload  bytea not null,
  reason   text not null,
  found_at timestamptz not null default clock_timestamp(),
  primary key (feed, number, entry_id)
);

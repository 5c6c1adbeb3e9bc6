-- Events of this service. A row is published, with its number, in the transaction of the change.
create table outbox (
  id           bigint generated always as identity primary key,
  feed         text not null check (feed <> ''),
  -- 1, 2, 3 ... per feed without gaps, in the order of the commits, in which consumers receive.
  number       bigint not null check (number > 0),
  type         text not null check (type <> ''),
  -- Set on events that JetStream carries too; consumers read the other events through gRPC only.
  subject      text check (subject <> ''),
  payload      bytea not null,
  request_id   text not null default '',
  published_at timestamptz not null default clock_timestamp(),
  forwarded_at timestamptz,
  unique (feed, number),
  check (forwarded_at is null or subject is not null)
);

create index outbox_to_forward on outbox (id) where subject is not null and forwarded_at is null;

-- The newest number of each feed of this service. A transaction that publishes locks the row until its commit, after all its
-- other locks, and the rows of several feeds in the order of their names: such transactions never wait for each other in a ring.
create table feed_head (
  feed        text primary key check (feed <> ''),
  last_number bigint not null check (last_number > 0)
);

-- How far this service has received the feeds of other services: the last entry, by number and by identity.
create table feed_cursor (
  feed     text primary key,
  number   bigint not null check (number >= 0),
  entry_id bigint not null check (entry_id >= 0),
  moved_at timestamptz not null default clock_timestamp(),
  check ((number = 0) = (entry_id = 0))
);

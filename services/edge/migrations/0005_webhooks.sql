-- Endpoints of clients that are sent events.
create table webhook (
  id              bigint generated always as identity primary key,
  -- Only keys of this client see it.
  client_id       text not null check (client_id <> ''),
  -- The command that has made it; a repetition makes no other one.
  command_id      text not null unique check (command_id <> ''),
  url             text not null check (length(url) between 1 and 2000),
  -- As the client has written them; * matches all.
  types           text not null check (types <> ''),
  is_enabled      boolean not null default true,
  -- Encrypted. The previous one signs too until then.
  secret          text not null,
  previous_secret text,
  previous_until  timestamptz,
  rotated_by      text not null default '',
  -- Deliveries were made for all events up to this one.
  through_event   bigint not null check (through_event >= 0),
  replayed_by     text not null default '',
  -- Attempts in a row that have failed, since when, and until when none is made.
  failures        integer not null default 0 check (failures >= 0),
  failing_since   timestamptz,
  paused_until    timestamptz not null default '-infinity',
  -- When it was given up.
  disabled_at     timestamptz,
  last_error      text not null default '',
  created_at      timestamptz not null default clock_timestamp(),
  deleted_at      timestamptz,
  deleted_by      text not null default '',
  check ((previous_secret is null) = (previous_until is null)),
  check ((failures = 0) = (failing_since is null))
);

create index webhook_of_client on webhook (client_id, id) where deleted_at is null;

-- One event for one endpoint. Of one account the next one is sent when the one before was delivered or given up.
create table webhook_delivery (
  id            bigint generated always as identity primary key,
  webhook_id    bigint not null references webhook on delete cascade,
  event_id      bigint not null,
  type          text not null,
  -- The account of the event.
  login         text not null,
  status        text not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
  attempts      integer not null default 0 check (attempts >= 0),
  next_try_at   timestamptz not null default clock_timestamp(),
  -- Until then a replica sends it.
  claimed_until timestamptz not null default '-infinity',
  first_try_at  timestamptz,
  -- Of the last attempt.
  last_status   integer,
  last_error    text not null default '',
  created_at    timestamptz not null default clock_timestamp(),
  finished_at   timestamptz,
  check ((status = 'pending') = (finished_at is null))
);

create index webhook_delivery_pending on webhook_delivery (webhook_id, login, id) where status = 'pending';
create index webhook_delivery_newest on webhook_delivery (webhook_id, id);
create index webhook_delivery_by_status on webhook_delivery (webhook_id, status, id);

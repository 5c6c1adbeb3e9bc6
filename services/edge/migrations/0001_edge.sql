-- What the edge knows of its clients: their keys, what they asked for, and the events that they are sent.

-- Keys of clients. The key itself is shown once and kept nowhere; what is stored cannot be turned back into it.
create table api_key (
  id                text primary key check (id ~ '^[0-9A-Za-z]{12}$'),
  environment       text not null check (environment in ('live', 'test')),
  name              text not null check (name <> ''),
  -- Identifies the pepper of the hash without revealing it, so that a pepper can be replaced while old keys are valid.
  pepper_id         text not null check (pepper_id <> ''),
  hash              bytea not null check (octet_length(hash) = 32),
  scopes            text[] not null check (cardinality(scopes) > 0),
  -- Addresses and networks that may use the key; none means all.
  allowed_addresses text[] not null,
  -- Whether a deposit or withdrawal that equals one that this client executed within 24 hours is refused.
  duplicate_comment text not null default 'allow' check (duplicate_comment in ('allow', 'reject')),
  -- The key that this one replaces.
  replaces          text references api_key (id),
  -- The client that the key belongs to: the first key of its chain of rotations.
  client_id         text not null references api_key (id),
  created_at        timestamptz not null,
  expires_at        timestamptz check (expires_at > created_at),
  revoked_at        timestamptz,
  last_used_at      timestamptz,
  check ((replaces is null) = (client_id = id))
);

create index api_key_in_force on api_key (created_at) where revoked_at is null;
create index api_key_by_age on api_key (created_at desc, id desc);
create index api_key_replacing on api_key (replaces) where replaces is not null;

-- Each key under the names that the code uses.
create view api_key_row as
  select id, environment, name, pepper_id as "pepperId", hash, scopes, allowed_addresses as "allowedAddresses",
         duplicate_comment as "duplicateComment", replaces, client_id as "clientId",
         created_at as "createdAt", expires_at as "expiresAt",
         revoked_at as "revokedAt", last_used_at as "lastUsedAt"
  from api_key;

-- What the edge that was started last accepts beside the keys of the table above; one row.
create table key_system (
  is_only           boolean primary key default true check (is_only),
  -- Keys of the other environment are refused.
  environment       text not null check (environment in ('live', 'test')),
  has_bootstrap_key boolean not null,
  bootstrap_used_at timestamptz
);

-- The command that a client's Idempotency-Key stands for. Responses are not stored: a repeated command is sent again under
-- its first id, and the service that executed it returns the recorded result.
create table idempotency_key (
  client_id     text not null,
  key           text not null check (key ~ '^[\x21-\x7e]{1,255}$'),
  -- SHA-256 of method, route and parameters.
  fingerprint   bytea not null check (octet_length(fingerprint) = 32),
  -- Id of the last command; a service executes an id once.
  command_id    text not null unique check (command_id <> ''),
  -- IN_PROGRESS: not answered, or outcome unknown. DONE: it succeeded. REFUSED: proven that nothing was executed.
  status        text not null check (status in ('IN_PROGRESS', 'DONE', 'REFUSED')),
  -- Until then a replica processes it; afterwards the next request may send the command again.
  busy_until    timestamptz not null,
  created_at    timestamptz not null,
  primary key (client_id, key)
);

create index idempotency_key_by_age on idempotency_key (created_at);

-- The caller, the request and its outcome. Rows are inserted and never changed. A change of a key on the machine of the service has the
-- method KEYS, no key, the name of who made it as the client, and the id of the key as the operation. A partition for each month (UTC),
-- which is dropped as a whole.
create table access_audit (
  id           bigint generated always as identity,
  at           timestamptz not null,
  request_id   text not null,
  -- Null when the key was not valid.
  key_id       text,
  client       text,
  address      text not null,
  method       text not null,
  route        text not null,
  operation_id text,
  decision     text not null check (decision in ('allowed', 'denied')),
  status       integer not null check (status between 100 and 599),
  code         text,
  primary key (id, at)
) partition by range (at);

create index access_audit_by_time on access_audit (at);
create index access_audit_by_key on access_audit (key_id, at);

select append_only('access_audit');

-- The functions below run as the owner of the schema, because the service may neither create nor drop tables. They name their
-- tables themselves.

-- For rows of a month without a partition: an insert never fails because one is missing.
create function add_audit_rest() returns void language plpgsql set search_path = edge, pg_temp as $$
begin
  create table access_audit_rest partition of access_audit default;
  perform append_only('access_audit_rest');
end
$$;

-- Makes the partitions of this month and the next two. A month that has rows outside of the partitions stays there: moving them would
-- lock out inserts.
create function add_audit_partitions() returns void language plpgsql security definer set search_path = edge, pg_temp as $$
declare
  this_month constant timestamp := date_trunc('month', clock_timestamp() at time zone 'UTC');
  begins timestamp;
  ends   timestamp;
  named  text;
begin
  perform pg_advisory_xact_lock(hashtextextended('audit partitions', 0));
  for ahead in 0..2 loop
    begins := this_month + ahead * interval '1 month';
    ends := begins + interval '1 month';
    named := 'access_audit_' || to_char(begins, 'YYYYMM');
    continue when to_regclass('edge.' || named) is not null or exists (
      select from access_audit_rest where at >= begins at time zone 'UTC' and at < ends at time zone 'UTC'
    );
    execute format('create table %I (like access_audit including defaults including constraints including indexes)', named);
    -- Unlike `create table ... partition of`, this lets inserts into the other partitions go on.
    execute format('alter table access_audit attach partition %I for values from (%L) to (%L)', named,
                   begins at time zone 'UTC', ends at time zone 'UTC');
    perform append_only(named::regclass);
  end loop;
end
$$;

-- Drops the oldest partition all of whose rows are older than the instant, never one with rows of the last 90 days; the rows outside of the
-- months are one partition. False when there is none. Inserts wait for the milliseconds that a drop takes.
create function drop_old_audit(before timestamptz) returns boolean language plpgsql security definer
  set search_path = edge, pg_temp set lock_timeout = '500ms' as $$
declare
  latest  constant timestamptz := least(before, clock_timestamp() - interval '90 days');
  dropped text;
begin
  select relname into dropped
  from pg_inherits join pg_class on pg_class.oid = inhrelid
  where inhparent = 'edge.access_audit'::regclass and relname ~ '^access_audit_[0-9]{6}$'
    and (to_timestamp(right(relname, 6) || ' 00:00+00', 'YYYYMM HH24:MITZH') + interval '1 month') <= latest
  order by relname
  limit 1;
  if dropped is not null then
    execute format('drop table %I', dropped);
    return true;
  end if;
  if (select max(at) < latest from access_audit_rest) is not true then return false; end if;
  drop table access_audit_rest;
  perform add_audit_rest();
  return true;
end
$$;

select add_audit_rest(), add_audit_partitions();

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
  -- Until then it has asked to be sent nothing.
  asked_until     timestamptz not null default '-infinity',
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

-- Tables that services share.
\ir ../../kernel/feed/feed.sql
\ir ../../kernel/postgres/lease.sql
\ir ../../kernel/retention/retention.sql

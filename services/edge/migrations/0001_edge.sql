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
  -- The key that this one replaces.
  replaces          text references api_key (id),
  -- The client that the key belongs to: the first key of its chain of rotations.
  client_id         text not null references api_key (id),
  created_at        timestamptz not null,
  expires_at        timestamptz check (expires_at > created_at),
  revoked_at        timestamptz,
  last_used_at      timestamptz,
  check ((replaces is null) = (client_id = id)),
  -- Whether a deposit or withdrawal that equals one that this client executed within 24 hours is refused.
  duplicate_comment text not null default 'allow' check (duplicate_comment in ('allow', 'reject'))
);

-- What the edge that was started last accepts beside the keys of the table above; one row.
create table key_system (
  is_only           boolean primary key default true check (is_only),
  -- Keys of the other environment are refused.
  environment       text not null check (environment in ('live', 'test')),
  has_bootstrap_key boolean not null,
  bootstrap_used_at timestamptz
);

-- Each key under the names that the code uses.
create view api_key_row as
  select id, environment, name, pepper_id as "pepperId", hash, scopes, allowed_addresses as "allowedAddresses",
         duplicate_comment as "duplicateComment", replaces, client_id as "clientId",
         created_at as "createdAt", expires_at as "expiresAt",
         revoked_at as "revokedAt", last_used_at as "lastUsedAt"
  from api_key;

create index api_key_in_force on api_key (created_at) where revoked_at is null;

-- The caller, the request and its outcome. Rows are inserted and never changed. A change of a key on the machine of the service has the
-- method KEYS, no key, the name of who made it as the client, and the id of the key as the operation.
create table access_audit (
  id           bigint generated always as identity primary key,
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
  code         text
);

create index access_audit_by_time on access_audit (at);
create index access_audit_by_key on access_audit (key_id, at);

select append_only('access_audit');

-- The command that a client's Idempotency-Key stands for. Responses are not stored: a repeated command is sent again under
-- its first id, and the service that executed it returns the recorded result.
create table idempotency_key (
  client_id     text not null,
  key           text not null check (key ~ '^[\x21-\x7e]{1,64}$'),
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

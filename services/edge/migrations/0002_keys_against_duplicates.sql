-- Whether a client wants a deposit or withdrawal refused that equals one that it made within 24 hours.
alter table api_key
  add column duplicate_comment text not null default 'allow' check (duplicate_comment in ('allow', 'reject'));

-- The command that a client's Idempotency-Key stands for. Responses are not stored: the command is sent again under its
-- first id, and the service that executed it returns the same result.
create table idempotency_key (
  key_id        text not null,
  key           text not null check (key ~ '^[\x21-\x7e]{1,64}$'),
  -- SHA-256 of method, route and parameters.
  fingerprint   bytea not null check (octet_length(fingerprint) = 32),
  -- Id of the last command; a service executes an id once.
  command_id    text not null unique check (command_id <> ''),
  -- IN_PROGRESS: not answered, or outcome unknown. DONE: it succeeded. REFUSED: proven that nothing was executed.
  status        text not null check (status in ('IN_PROGRESS', 'DONE', 'REFUSED')),
  -- Until then a replica works on it; afterwards the next request may send the command again.
  busy_until    timestamptz not null,
  created_at    timestamptz not null,
  primary key (key_id, key)
);

create index idempotency_key_by_age on idempotency_key (created_at);

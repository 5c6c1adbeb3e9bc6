-- What a client wants done with a deposit or withdrawal that looks like one of its own that was executed lately.
alter table api_key
  add column duplicate_comment text not null default 'allow' check (duplicate_comment in ('allow', 'reject'));

-- Which command a client's Idempotency-Key stands for. Answers are not kept: the command is given again under its first
-- id, and whoever carried it out answers the same.
create table idempotency_key (
  key_id        text not null,
  key           text not null check (key ~ '^[\x21-\x7e]{1,64}$'),
  -- SHA-256 of method, route and parameters.
  fingerprint   bytea not null check (octet_length(fingerprint) = 32),
  -- Id under which the command was given the last time; repeating it repeats nothing.
  command_id    text not null unique check (command_id <> ''),
  -- GIVEN: not answered, or nobody knows what came of it. DONE: it succeeded. REFUSED: surely nothing was done.
  state         text not null check (state in ('GIVEN', 'DONE', 'REFUSED')),
  -- Until then somebody is at work on it; afterwards whoever asks may give the command again.
  busy_until    timestamptz not null,
  created_at    timestamptz not null,
  primary key (key_id, key)
);

create index idempotency_key_by_age on idempotency_key (created_at);

-- Who has a fee configuration at all. The row is locked while a version is added, so that versions have an order.
create table fee_configuration (
  investor_login text primary key check (investor_login <> ''),
  investor_id    bigint not null,
  created_at     timestamptz not null,
  updated_at     timestamptz not null
);

-- Every command that ever changed a configuration, never edited. The newest one that has begun holds, for the rate and
-- for the switch each.
create table fee_version (
  id              bigint generated always as identity primary key,
  investor_login  text not null references fee_configuration,
  -- The command behind it; repeating it adds nothing.
  key             text not null unique check (key <> ''),
  rate_ppm        integer not null check (rate_ppm between 0 and 1000000),
  -- From when the rate holds; null when the command did not touch it.
  rate_from       timestamptz,
  enabled         boolean not null,
  -- From when the switch holds, never before the command; null when the command did not touch it.
  enabled_from    timestamptz,
  -- What is shown as the beginning of validity.
  effective_since timestamptz not null,
  made_at         timestamptz not null
);

create index fee_version_by_investor on fee_version (investor_login, id);

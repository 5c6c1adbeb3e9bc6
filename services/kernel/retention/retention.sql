-- How far each rule has removed rows that are no longer needed.
create table retention_rule (
  name           text primary key check (name <> ''),
  -- When the rule was added: its age counts from here until its first complete pass.
  known_at       timestamptz not null default clock_timestamp(),
  -- What ended before this instant may be removed. It is committed before the first row is removed, and only grows.
  removed_before timestamptz,
  -- A pass through the rows is not over, and where it continues: the key of the row that was read last.
  is_running     boolean not null default false,
  cursor         text[] not null default '{}',
  completed_at   timestamptz,
  check (is_running or cursor = '{}')
);

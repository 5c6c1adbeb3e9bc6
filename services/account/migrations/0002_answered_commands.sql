-- Commands that were carried out at once, by their id: given again, they change nothing and are answered again. Those that
-- create accounts have a row of their own in provisioning.
create table answered_command (
  command_id  text primary key check (command_id <> ''),
  -- The Master or Investor that it was about.
  subject_id  bigint not null,
  answered_at timestamptz not null
);

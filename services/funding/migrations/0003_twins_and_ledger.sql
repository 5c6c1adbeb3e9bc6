-- Twins: equal operations of one API key. Null where nothing tells twins apart: the comment is our default, or nobody in
-- particular asked.
alter table cashflow
  add column twin_key_id           text check (twin_key_id <> ''),
  -- Ticket of the last twin that was executed shortly before this one was asked for.
  add column possible_duplicate_of bigint;

-- Of twins only one is open at a time: the second of two that come at the same moment waits for the first's commit.
create unique index cashflow_one_open_twin
  on cashflow (twin_key_id, login, action, amount_minor, currency, comment)
  where twin_key_id is not null and state not in ('POSTED', 'REFUSED');
create index cashflow_executed_twin
  on cashflow (twin_key_id, login, action, amount_minor, currency, comment, finished_at)
  where twin_key_id is not null and state = 'POSTED';

-- The ledger is read the newest first. Ids are UUIDs of version 7, which grow with time; byte by byte, as other readers
-- compare them.
create index cashflow_newest on cashflow (operation_id collate "C");
create index cashflow_newest_of_login on cashflow (login, operation_id collate "C");
create index cashflow_newest_of_comment on cashflow (comment, operation_id collate "C");

-- What callers see of this service has another state. Triggers note it in the transaction of the change, whichever statement makes it;
-- two changes of one row have ids in their order. A read of the feed of states moves the rows there.
create table state_change (
  id           bigint generated always as identity primary key,
  -- deposit, withdrawal, subscription, mirror, exit, fee, break, review or account.
  kind         text not null check (kind <> ''),
  -- As the routes show it.
  state        text not null check (state <> ''),
  -- Id of what has changed, as the routes show it.
  subject      text not null check (subject <> ''),
  noted_at     timestamptz not null default clock_timestamp(),
  -- The account that it is about.
  login        text not null default '',
  master_login text not null default '',
  operation_id text not null default '',
  amount_minor bigint,
  deal_id      bigint not null default 0,
  -- Code of a refusal, check or review.
  reason       text not null default ''
);

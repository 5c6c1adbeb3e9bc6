-- Forward only: once applied, this file must not change. Rules: CONTRIBUTING.md, "A new migration".

-- The saga that closes a Master: it takes every Investor out of the pool, by the same exits as an unassign. No assignment begins while the row
-- exists, and it stays: a Master that was closed is not opened again.
create table closing (
  master_login      text primary key check (master_login <> ''),
  master_id         bigint not null,
  state             text not null check (state in ('CLOSING', 'ARCHIVED')),
  requested_at      timestamptz not null,
  archived_at       timestamptz,
  -- Investors with a higher id are tried next; 0 at the beginning of each pass.
  after_investor_id bigint not null default 0 check (after_investor_id >= 0),
  -- Two for each Investor in the pool, one for each exit that has not ended.
  steps_left        bigint not null check (steps_left >= 0),
  -- When steps_left has fallen last, or the closing has begun.
  progressed_at     timestamptz not null,
  next_try_at       timestamptz not null,
  tries             integer not null default 0 check (tries >= 0),
  -- Why the last step has not taken every Investor out.
  reason            text,
  check ((state = 'ARCHIVED') = (archived_at is not null))
);

create index closing_due on closing (next_try_at) where state = 'CLOSING';

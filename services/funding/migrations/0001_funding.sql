-- Deposits and withdrawals: every request, how far it is, and how it has ended.

-- What this service knows of Masters, from the feed of account. It asks for what is missing.
create table known_master (
  login             text primary key,
  min_deposit_minor bigint not null check (min_deposit_minor >= 0)
);

-- Whom an Investor follows, from the feed of subscription. The first deposit asks for it.
create table known_investor (
  login        text primary key,
  -- The Master of its ACTIVE subscription.
  master_login text check (master_login <> '')
);

-- Every requested deposit and withdrawal. Platform executes a deposit, subscription a withdrawal. The row is committed before another service is called.
create table cashflow (
  id                    bigint generated always as identity primary key,
  -- Command id of the request; a repeated request executes nothing again.
  operation_id          text not null unique check (operation_id <> ''),
  action                text not null check (action in ('deposit', 'withdraw')),
  login                 text not null,
  -- The Master that the Investor followed when the operation was recorded. Null without one.
  master_login          text,
  -- Cents.
  amount_minor          bigint not null check (amount_minor > 0),
  comment               text not null,
  -- The client's own id of the operation (externalId) and its data (metadata); null without any.
  labels                jsonb,
  -- The minimum deposit that a deposit was decided with.
  first_deposit_checked boolean,
  min_deposit_minor     bigint check (min_deposit_minor >= 0),

  state                 text not null check (state in ('RECORDED', 'POSTED', 'REFUSED')),
  -- The last outcome that was reported while it is not final: UNKNOWN or REVIEW.
  doubt                 text check (doubt in ('UNKNOWN', 'REVIEW')),
  deal_id               bigint,
  refusal               jsonb,
  -- The caller waits until then; nothing of the operation begins after it, unless it waits until the Master is flat.
  deadline              timestamptz not null,
  created_at            timestamptz not null,
  finished_at           timestamptz,
  -- When the recovery job tries it next, and how often it has: from the first try on the request leaves the operation to the job.
  next_try_at           timestamptz not null,
  tries                 integer not null default 0 check (tries >= 0),
  -- Why the last try of the recovery job failed.
  reason                text,
  -- The database had lost it; platform has imported its deal.
  is_imported           boolean not null default false,

  -- A withdrawal that may wait until the Master of its Investor is flat, when its caller has asked for that; null for any other. WANTED: it has not
  -- waited. WAITING and RUNNING: it waits, or a later try has begun, as subscription has last reported. The row keeps the state in which it has ended.
  queue_state           text check (queue_state in ('WANTED', 'WAITING', 'RUNNING')),
  -- Its last try begins by then.
  queue_until           timestamptz,

  -- The API key whose equal operations are its duplicates. Null when duplicates cannot be distinguished: the comment is a
  -- default, or the request has no API key.
  duplicate_scope_key   text check (duplicate_scope_key <> ''),
  -- Id of the equal operation that was executed last before this one, however long ago; 0 without one.
  follows               bigint not null default 0,
  -- Ticket of the last duplicate that was executed within 24 hours before this request.
  possible_duplicate_of bigint,
  -- The Idempotency-Key of the client as SHA-256; null without one. The edge stores keys too, and may have lost them.
  key_client            text check (key_client <> ''),
  key_hash              bytea check (octet_length(key_hash) = 32),
  -- Id of the operation that had the key before: it was refused, or ended so long ago that the key is free again. 0 without one.
  key_follows           bigint not null default 0,

  check (num_nulls(first_deposit_checked, min_deposit_minor) = case action when 'deposit' then 0 else 2 end),
  check ((state = 'REFUSED') = (refusal is not null)),
  check ((state in ('POSTED', 'REFUSED')) = (finished_at is not null)),
  check (deal_id is null or state = 'POSTED'),
  check (not is_imported or (state = 'POSTED' and deal_id is not null)),
  check ((queue_state is null) = (queue_until is null)),
  check (queue_state is null or action = 'withdraw'),
  check ((key_client is null) = (key_hash is null))
);

create index cashflow_to_settle on cashflow (next_try_at) where state = 'RECORDED';
create unique index cashflow_imported on cashflow (deal_id) where is_imported;
create index cashflow_by_login on cashflow (login, id);

-- The operations that are equal are a chain: each follows the one that was executed before it. So of two that are inserted
-- at the same time one finds the other, also when that one has been executed in the meantime. The last of a chain is the only
-- one that may be open. One that moved nothing leaves the chain.
create unique index cashflow_equal
  on cashflow (duplicate_scope_key, login, action, amount_minor, comment, follows)
  where duplicate_scope_key is not null and (deal_id is not null or state = 'RECORDED');

-- The operations under one key are a chain too, whose last one has the key. So of two requests with a key one is recorded.
create unique index cashflow_key on cashflow (key_client, key_hash, key_follows) where key_hash is not null;

-- Operations are listed newest first. Ids are UUIDs of version 7, which grow with time; compared byte by byte, as all
-- readers of listings do.
create index cashflow_newest on cashflow (operation_id collate "C");
create index cashflow_newest_of_login on cashflow (login, operation_id collate "C");
create index cashflow_newest_of_comment on cashflow (comment, operation_id collate "C");
create index cashflow_newest_of_master on cashflow (master_login, operation_id collate "C") where master_login is not null;
create index cashflow_newest_of_external_id on cashflow ((labels ->> 'externalId'), operation_id collate "C")
  where labels ->> 'externalId' is not null;
-- Withdrawals may be rare among deposits. Deposits are not rare among withdrawals, so they need no index, which each would have to maintain.
create index cashflow_newest_withdrawal on cashflow (operation_id collate "C") where action = 'withdraw';
-- Few end so, and one that is executed is never in it.
create index cashflow_newest_not_executed on cashflow (operation_id collate "C") where state = 'REFUSED';
-- Open operations that have left their first try, or may wait until their Master is flat. One that is executed in its first try is never in it.
create index cashflow_newest_left_open on cashflow (operation_id collate "C")
  where finished_at is null and (tries > 0 or doubt is not null or queue_state is not null);
-- Open operations of the queue. One that ends leaves the index.
create index cashflow_queued on cashflow (operation_id collate "C") where queue_state in ('WAITING', 'RUNNING') and finished_at is null;

-- The outcome that the ledger of operations shows. No caller waits for an operation of the queue, so it is pending until its outcome is known, or
-- until doubt is reported. Any other open operation is unknown after its deadline; the recovery job, whose first try moves next_try_at, is
-- the first to see that.
create function cashflow_outcome(state text, doubt text, deadline timestamptz, next_try_at timestamptz, queue_state text) returns text
  language sql immutable as $$
  select case when state = 'POSTED' then 'executed'
              when state = 'REFUSED' then 'not_executed'
              when doubt is not null then lower(doubt)
              when queue_state in ('WAITING', 'RUNNING') then 'pending'
              when next_try_at > deadline then 'unknown'
              else 'pending' end
$$;

-- Of all rows of a statement at once: deposits are recorded and finished together, and a trigger for each row would cost four times as much.
create function note_cashflows() returns trigger language plpgsql set search_path from current as $$
declare
  changed bigint[];
begin
  if tg_op = 'UPDATE' then
    select array_agg(id) into changed
    from after join before using (id)
    where cashflow_outcome(before.state, before.doubt, before.deadline, before.next_try_at, before.queue_state)
          is distinct from cashflow_outcome(after.state, after.doubt, after.deadline, after.next_try_at, after.queue_state);
    if changed is null then
      return null;
    end if;
  end if;
  insert into state_change (kind, state, subject, login, operation_id, amount_minor, deal_id, reason)
  select case action when 'deposit' then 'deposit' else 'withdrawal' end,
         cashflow_outcome(state, doubt, deadline, next_try_at, queue_state), operation_id, login, operation_id,
         amount_minor, coalesce(deal_id, 0), coalesce(refusal ->> 'code', '')
  from after
  where changed is null or id = any (changed)
  order by id;
  return null;
end
$$;

create trigger note_insert after insert on cashflow referencing new table as after
  for each statement execute function note_cashflows();
create trigger note_update after update on cashflow referencing old table as before new table as after
  for each statement execute function note_cashflows();

-- Requests that have repeated an operation under its Idempotency-Key with another command id, because the edge had lost the first one. They
-- stand for the operation.
create table cashflow_repetition (
  command_id  text primary key check (command_id <> ''),
  cashflow_id bigint not null references cashflow on delete cascade
);

create index cashflow_repetition_of on cashflow_repetition (cashflow_id);

-- Tables that services share.
\ir ../../kernel/feed/feed.sql
\ir ../../kernel/states/state-changes.sql
\ir ../../kernel/reconcile/tables.sql
\ir ../../kernel/postgres/lease.sql
\ir ../../kernel/retention/retention.sql

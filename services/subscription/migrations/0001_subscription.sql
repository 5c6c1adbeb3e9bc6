-- Who follows whom. ASSIGNING and ABORTED are never shown.
create table subscription (
  id                bigint generated always as identity primary key,
  command_id        text not null,
  master_id         bigint not null,
  investor_id       bigint not null,
  master_login      text not null,
  investor_login    text not null check (investor_login <> master_login),
  status            text not null check (status in ('ASSIGNING', 'ACTIVE', 'PAUSED', 'CANCELLED', 'ABORTED')),
  created_at        timestamptz not null,
  started_at        timestamptz,
  ended_at          timestamptz,
  -- Id of the log entry, in platform's journal, at which the baseline was taken.
  baseline_entry_id bigint,
  check (status not in ('ACTIVE', 'PAUSED', 'CANCELLED') or (started_at is not null and baseline_entry_id is not null)),
  check ((status = 'CANCELLED') = (ended_at is not null))
);

create unique index subscription_one_open on subscription (investor_login)
  where status in ('ASSIGNING', 'ACTIVE', 'PAUSED');
-- A refused command may be given again; any other is answered from its row.
create unique index subscription_one_per_command on subscription (command_id)
  where status <> 'ABORTED' and command_id <> '';
create index subscription_by_master on subscription (master_login, id);
create index subscription_by_investor on subscription (investor_login, id);
create index subscription_active on subscription (master_login, investor_id) where status = 'ACTIVE';

-- How the service reads them.
create view subscription_row as
  select id, master_id as "masterId", investor_id as "investorId", master_login as "masterLogin",
         investor_login as "investorLogin", status, created_at as "createdAt", started_at as "startedAt",
         ended_at as "endedAt", baseline_entry_id as "baselineEntryId"
  from subscription;

-- The story of how a subscription began: recorded before the platform is asked, decided once, then only finished.
create table assignment (
  subscription_id    bigint primary key references subscription,
  fee_rate_ppm       integer not null check (fee_rate_ppm between 0 and 1000000),
  fee_enabled        boolean not null,
  -- An assignment that is not decided by then is nobody's any more and is aborted.
  deadline_at        timestamptz not null,
  -- Holder of the Investor's lane; null once it was released.
  holder             text,
  decided_at         timestamptz,
  held_balance_minor bigint,
  held_log_number    bigint,
  refusal            jsonb,
  next_try_at        timestamptz not null,
  tries              integer not null default 0,
  reason             text,
  check (num_nulls(decided_at, held_balance_minor, held_log_number) in (0, 3))
);

create index assignment_unreleased on assignment (next_try_at) where holder is not null;

-- The story of how an Investor leaves a pool. One row a subscription: a refused try is followed by the next.
create table exit (
  subscription_id    bigint primary key references subscription,
  command_id         text not null,
  request_id         text not null,
  try                integer not null check (try > 0),
  -- ASKING may still be aborted; LEAVING ends with the answer of Leave; LEFT and REFUSED are the ends of a try.
  state              text not null check (state in ('ASKING', 'LEAVING', 'LEFT', 'REFUSED')),
  deadline_at        timestamptz not null,
  holder             text,
  held_balance_minor bigint,
  held_log_number    bigint,
  refusal            jsonb,
  -- What the command answers: the state that it committed and what leaves the Master.
  left_status        text check (left_status in ('PAUSED', 'CANCELLED')),
  left_minor         bigint check (left_minor >= 0),
  next_try_at        timestamptz not null,
  tries              integer not null default 0,
  reason             text,
  check ((state = 'LEFT') = (left_status is not null)),
  check ((left_status is null) = (left_minor is null)),
  check (state <> 'LEAVING' or (held_balance_minor is not null and held_log_number is not null)),
  check ((state = 'REFUSED') = (refusal is not null))
);

create index exit_of_command on exit (command_id) where state = 'LEFT';
create index exit_unsettled on exit (next_try_at) where holder is not null;

create view exit_row as
  select subscription_id as "subscriptionId", command_id as "commandId", try, state, holder,
         held_balance_minor as "heldBalance", held_log_number as "heldLogNumber", refusal, left_status as "leftStatus",
         left_minor as "leftAmount"
  from exit;

-- An Investor login: how far its log is filed and what stands on it outside of any pool.
create table investor_account (
  login                  text primary key,
  filed_number           bigint not null default -1 check (filed_number >= -1),
  -- Number of the newest entry that was heard of; above filed_number there is a gap to be read.
  heard_number           bigint not null default -1,
  outside_minor          bigint not null default 0,
  quarantined_minor      bigint not null default 0,
  -- Results allocated and not yet posted.
  unposted_minor         bigint not null default 0,
  pooled_subscription_id bigint references subscription,
  check (heard_number >= filed_number)
);

create index investor_account_gap on investor_account (login) where heard_number > filed_number;

-- A Master's pool: what stands on its login and belongs to no Investor, and its gate.
create table master_pool (
  login                text primary key,
  filed_number         bigint not null default -1 check (filed_number >= -1),
  heard_number         bigint not null default -1,
  foreign_minor        bigint not null default 0,
  -- Trading results that are not split yet; the rows are in master_result.
  unallocated_minor    bigint not null default 0,
  -- Set when nothing on this Master may go on until a person has looked.
  stopped_reason       text,
  -- Grows with each closing and each take-over of the gate; every commit under the gate checks it.
  gate_fence           bigint not null default 0,
  gate_key             text,
  gate_try             integer,
  gate_closed_at       timestamptz,
  -- Mirrors refused in a row, for the back-off of the next one.
  mirror_refusals      integer not null default 0,
  mirror_next_at       timestamptz not null default '-infinity',
  mirror_reason        text,
  check (heard_number >= filed_number),
  check (num_nulls(gate_key, gate_try, gate_closed_at) in (0, 3))
);

create index master_pool_gap on master_pool (login) where heard_number > filed_number;
create index master_pool_gated on master_pool (gate_closed_at) where gate_key is not null;

-- Deals of a Master's trader, in the order of its log, as they wait to be split.
create table master_result (
  master_login     text not null references master_pool,
  number           bigint not null,
  entry_id         bigint not null unique,
  deal_id          bigint not null,
  deal_at          timestamptz not null,
  amount_minor     bigint not null,
  action           integer not null,
  entry            integer not null,
  position_id      bigint not null,
  symbol           text not null,
  volume           bigint not null,
  volume_closed    bigint not null,
  profit_minor     bigint not null,
  swap_minor       bigint not null,
  commission_minor bigint not null,
  fee_minor        bigint not null,
  allocated_at     timestamptz,
  primary key (master_login, number)
);

create index master_result_unallocated on master_result (master_login, number) where allocated_at is null;

-- Where the money of a subscription stands. A loss may take what is pooled below zero, nothing else.
create table seat (
  subscription_id bigint primary key references subscription,
  master_login    text not null references master_pool,
  investor_login  text not null references investor_account,
  inbound_minor   bigint not null default 0 check (inbound_minor >= 0),
  waiting_minor   bigint not null default 0 check (waiting_minor >= 0),
  pooled_minor    bigint not null default 0,
  reserved_minor  bigint not null default 0 check (reserved_minor >= 0),
  outbound_minor  bigint not null default 0 check (outbound_minor >= 0)
);

create index seat_by_master on seat (master_login, subscription_id);
create index seat_waiting on seat (master_login) where waiting_minor > 0;

-- What was set apart in the pool for one debit, under the key of its transfer.
create table reserve (
  key             text primary key,
  subscription_id bigint not null references subscription,
  amount_minor    bigint not null check (amount_minor > 0),
  -- RETURNED: the debit was refused for good and the money stayed.
  state           text not null check (state in ('OPEN', 'SETTLED', 'RETURNED')),
  created_at      timestamptz not null,
  closed_at       timestamptz,
  check ((state = 'OPEN') = (closed_at is null))
);

create index reserve_open on reserve (subscription_id) where state = 'OPEN';

-- One transfer on a Master for the net of its open flows. A refused one gives its flows to the next.
create table mirror (
  id           bigint generated always as identity primary key,
  key          text generated always as ('subscription:mirror:' || id) stored unique,
  master_login text not null references master_pool,
  amount_minor bigint not null,
  state        text not null check (state in ('OPEN', 'APPLIED', 'REFUSED')),
  deal_id      bigint,
  created_at   timestamptz not null,
  closed_at    timestamptz,
  next_try_at  timestamptz not null,
  tries        integer not null default 0,
  reason       text,
  check ((state = 'OPEN') = (closed_at is null)),
  check ((state = 'APPLIED') = (deal_id is not null))
);

-- Mirrors of one Master follow one another.
create unique index mirror_one_open on mirror (master_login) where state = 'OPEN';
create index mirror_due on mirror (next_try_at) where state = 'OPEN';

-- A change of an Investor's capital that the Master has to mirror; signed.
create table flow (
  id              bigint generated always as identity primary key,
  subscription_id bigint not null references subscription,
  master_login    text not null references master_pool,
  amount_minor    bigint not null check (amount_minor <> 0),
  created_at      timestamptz not null,
  -- The mirror that carries it; null while it waits for one.
  mirror_id       bigint references mirror
);

create index flow_waiting on flow (master_login, id) where mirror_id is null;
create index flow_by_mirror on flow (mirror_id);

-- Capital of an Investor who left leaves the Master. Never netted: its id was promised.
create table exit_transfer (
  id              bigint generated always as identity primary key,
  subscription_id bigint not null references subscription,
  -- 1, 2, 3 ... per subscription; a refused one is followed by the next.
  number          integer not null check (number > 0),
  key             text generated always as ('exit:' || subscription_id || ':' || number) stored unique,
  master_login    text not null references master_pool,
  amount_minor    bigint not null check (amount_minor > 0),
  state           text not null check (state in ('OPEN', 'APPLIED', 'REFUSED')),
  -- Platform's id, known once the wish is durable there.
  transfer_id     bigint,
  deal_id         bigint,
  created_at      timestamptz not null,
  closed_at       timestamptz,
  next_try_at     timestamptz not null,
  tries           integer not null default 0,
  -- Refusals in a row before this one, for the back-off of the next.
  refusals        integer not null default 0,
  reason          text,
  unique (subscription_id, number),
  check ((state = 'OPEN') = (closed_at is null)),
  check ((state = 'APPLIED') = (deal_id is not null))
);

create index exit_transfer_due on exit_transfer (next_try_at) where state = 'OPEN';

-- The decision about one leaving amount. REFUSED is final for its try, DECIDED for the key.
create table leave (
  key                text not null,
  try                integer not null check (try > 0),
  investor_login     text not null,
  kind               text not null check (kind in ('WITHDRAWAL', 'EXIT')),
  requested_minor    bigint not null check (requested_minor >= 0),
  held_balance_minor bigint not null,
  held_log_number    bigint not null,
  payout_key         text not null,
  -- WAITING for money on its way; GATED: the gate of the Master is closed for it; SETTLED: its place in the Master's log is fixed.
  state              text not null check (state in ('WAITING', 'GATED', 'SETTLED', 'DECIDED', 'REFUSED')),
  subscription_id    bigint references subscription,
  master_login       text,
  settled_number     bigint,
  before_minor       bigint,
  pending_minor      bigint,
  available_minor    bigint,
  effective_minor    bigint,
  refusal            jsonb,
  created_at         timestamptz not null,
  closed_at          timestamptz,
  primary key (key, try),
  check ((state = 'REFUSED') = (refusal is not null)),
  check ((state in ('DECIDED', 'REFUSED')) = (closed_at is not null)),
  check (state not in ('SETTLED', 'DECIDED') or subscription_id is null or settled_number is not null),
  check (state <> 'DECIDED' or num_nulls(before_minor, pending_minor, available_minor, effective_minor) = 0)
);

create unique index leave_one_undecided_try on leave (key) where state <> 'REFUSED';

create view leave_row as
  select key, try, investor_login as "investorLogin", kind, requested_minor as requested,
         held_balance_minor as "heldBalance", held_log_number as "heldLogNumber", payout_key as "payoutKey", state,
         subscription_id as "subscriptionId", master_login as "masterLogin", settled_number as "settledNumber",
         before_minor as before, pending_minor as pending, available_minor as available, effective_minor as effective,
         refusal
  from leave;

\ir ../../kernel/postgres/lease.sql
\ir ../../kernel/feed/feed.sql
\ir ../../kernel/reconcile/tables.sql
\ir ../../kernel/reconcile/handled-break.sql
\ir ../../kernel/review/review.sql

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
-- An assign is looked up by its command also when it was refused.
create index subscription_by_command on subscription (command_id);
create index subscription_active on subscription (master_login, investor_id) where status = 'ACTIVE';

-- How the service reads them.
create view subscription_row as
  select id, master_id as "masterId", investor_id as "investorId", master_login as "masterLogin",
         investor_login as "investorLogin", status, created_at as "createdAt", started_at as "startedAt",
         ended_at as "endedAt", baseline_entry_id as "baselineEntryId"
  from subscription;

-- The saga of how a subscription began: recorded before the platform is asked, decided once, then only finished.
create table assignment (
  subscription_id    bigint primary key references subscription,
  fee_rate_ppm       integer not null check (fee_rate_ppm between 0 and 1000000),
  fee_enabled        boolean not null,
  -- An assignment that is not decided by then is nobody's any more and is aborted.
  deadline_at        timestamptz not null,
  -- Holder of the Investor's account lock; null once it was released.
  lock_owner             text,
  decided_at         timestamptz,
  held_balance_minor bigint,
  held_log_number    bigint,
  refusal            jsonb,
  next_try_at        timestamptz not null,
  tries              integer not null default 0,
  reason             text,
  check (num_nulls(decided_at, held_balance_minor, held_log_number) in (0, 3))
);

create index assignment_unreleased on assignment (next_try_at) where lock_owner is not null;

-- The saga of how an Investor leaves a pool. One row a subscription: a refused try is followed by the next.
create table exit (
  subscription_id    bigint primary key references subscription,
  command_id         text not null,
  request_id         text not null,
  try                integer not null check (try > 0),
  -- ASKING may still be aborted; LEAVING ends with the answer of Leave; LEFT and REFUSED are the ends of a try.
  state              text not null check (state in ('ASKING', 'LEAVING', 'LEFT', 'REFUSED')),
  deadline_at        timestamptz not null,
  lock_owner             text,
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
create index exit_unsettled on exit (next_try_at) where lock_owner is not null;

create view exit_row as
  select subscription_id as "subscriptionId", command_id as "commandId", try, state, lock_owner as "lockOwner",
         held_balance_minor as "heldBalance", held_log_number as "heldLogNumber", refusal, left_status as "leftStatus",
         left_minor as "leftAmount"
  from exit;

-- An Investor login: how far its log is filed and what stands on it outside of any pool.
create table investor_account (
  login                  text primary key,
  filed_number           bigint not null default -1 check (filed_number >= -1),
  -- Number of the newest entry that was heard of; above filed_number there is a gap to be read.
  received_number           bigint not null default -1,
  outside_minor          bigint not null default 0,
  quarantined_minor      bigint not null default 0,
  -- What of it people have looked at.
  quarantine_known_minor bigint not null default 0,
  -- Results allocated and not yet posted.
  unposted_minor         bigint not null default 0,
  pooled_subscription_id bigint references subscription,
  -- Refusals of postings in a row, and when the next one may be made.
  posting_refusals       integer not null default 0,
  posting_next_at        timestamptz not null default '-infinity',
  check (received_number >= filed_number)
);

create index investor_account_gap on investor_account (login) where received_number > filed_number;
create index investor_account_unposted on investor_account (posting_next_at) where unposted_minor <> 0;
create index investor_account_external on investor_account (login) where quarantined_minor <> quarantine_known_minor;

-- A Master's pool: what stands on its login and belongs to no Investor, and its gate.
create table master_pool (
  login                text primary key,
  filed_number         bigint not null default -1 check (filed_number >= -1),
  received_number         bigint not null default -1,
  external_minor        bigint not null default 0,
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
  -- Results that no Investor owns, and what rounding left of them.
  suspense_minor       bigint not null default 0,
  suspense_carry_e8    bigint not null default 0,
  -- Number of the newest allocation entry.
  last_allocation      bigint not null default 0 check (last_allocation >= 0),
  -- Last cut-off up to which weeks are closed; null while nobody is ACTIVE, because then no week is closed.
  weeks_closed_through timestamptz,
  -- Highest ticket that was filed, and that ticket at the last strike: a lower one that comes later stops the Master.
  filed_deal_id        bigint not null default 0,
  struck_deal_id       bigint not null default 0,
  -- Every position that the Master may have open is in these books: it had nothing before us, or was read whole since.
  are_positions_known  boolean not null default true,
  -- Cash and attributed floating result of everybody were below zero after the last result or strike.
  is_in_deficit        boolean not null default false,
  -- When the Master is read again for a strike or a week that could not be had, and why not.
  mark_next_at         timestamptz not null default '-infinity',
  mark_tries           integer not null default 0,
  mark_reason          text,
  -- What of the external funds people have looked at: it stays where it is and is not asked about again.
  external_known_minor  bigint not null default 0,
  -- Number of the log entry up to which people let deals pass that stop a Master otherwise.
  let_pass_number      bigint not null default -1,
  check (received_number >= filed_number),
  check (num_nulls(gate_key, gate_try, gate_closed_at) in (0, 3))
);

create index master_pool_gap on master_pool (login) where received_number > filed_number;
create index master_pool_gated on master_pool (gate_closed_at) where gate_key is not null;
create index master_pool_weeks on master_pool (weeks_closed_through) where weeks_closed_through is not null;

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
create table holding (
  subscription_id  bigint primary key references subscription,
  master_login     text not null references master_pool,
  investor_login   text not null references investor_account,
  inbound_minor    bigint not null default 0 check (inbound_minor >= 0),
  waiting_minor    bigint not null default 0 check (waiting_minor >= 0),
  pooled_minor     bigint not null default 0,
  reserved_minor   bigint not null default 0 check (reserved_minor >= 0),
  outbound_minor   bigint not null default 0 check (outbound_minor >= 0),
  -- Who shares in results, and how much of what floats has been attributed already. Numbers that are scaled by units or by
  -- 1e24 do not fit 64 bits.
  units            numeric not null default 0 check (units >= 0 and units = trunc(units)),
  -- What rounding to cents has left, 1e-8 USD.
  carry_e8         bigint not null default 0,
  -- Has left what is pooled already; its units go at the next strike that can.
  unredeemed_minor bigint not null default 0 check (unredeemed_minor >= 0)
);

create index holding_by_master on holding (master_login, subscription_id);
create index holding_by_investor on holding (investor_login);
create index holding_waiting on holding (master_login) where waiting_minor > 0;
create index holding_unredeemed on holding (master_login) where unredeemed_minor > 0;

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
  -- Platform's id, known once the order is durable there.
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

-- An open position of a Master's trader, as far as its floating result was attributed. Scaled by 1e24 for each 1e-8 USD.
create table pool_position (
  master_login text not null references master_pool,
  position_id  bigint not null,
  symbol       text not null,
  -- Lots in units of 1e-8.
  volume       bigint not null,
  mark         numeric not null,
  per_unit     numeric not null,
  primary key (master_login, position_id)
);

-- Of a holding whose units changed while the position was open.
create table accrual (
  master_login    text not null references master_pool,
  position_id     bigint not null,
  -- 0 is suspense.
  subscription_id bigint not null,
  basis           numeric not null,
  per_unit        numeric not null,
  primary key (master_login, position_id, subscription_id)
);

-- What waits for its units, by the place in the Master's log from which on it works: holding.waiting_minor in its parts.
create table arrival (
  id              bigint generated always as identity primary key,
  subscription_id bigint not null references subscription,
  master_login    text not null references master_pool,
  -- Last entry of the Master's log that it has no part in, and the highest ticket up to there.
  number          bigint not null,
  deal_id         bigint not null,
  amount_minor    bigint not null check (amount_minor > 0)
);

create index arrival_by_master on arrival (master_login, subscription_id);

-- What happened to a Master's Investors, in the one order that counts: 1, 2, 3 ... without gaps.
create table allocation_entry (
  master_login   text not null references master_pool,
  number         bigint not null check (number > 0),
  kind           text not null check (kind in ('RESULT', 'WEEK')),
  created_at     timestamptz not null,
  -- Of a result: the entry of the Master's log, and what of it belongs to nobody.
  log_number     bigint,
  deal_id        bigint,
  deal_at        timestamptz,
  result_minor   bigint,
  suspense_minor bigint,
  -- Of a closed week, half-open; marked_at is null when the Master was flat.
  period_start   timestamptz,
  cut_off        timestamptz,
  marked_at      timestamptz,
  primary key (master_login, number),
  unique (master_login, log_number),
  unique (master_login, cut_off),
  check (num_nulls(log_number, deal_id, deal_at, result_minor, suspense_minor) = case kind when 'RESULT' then 0 else 5 end),
  check (num_nulls(period_start, cut_off) = case kind when 'WEEK' then 0 else 2 end),
  check (kind = 'WEEK' or marked_at is null)
);

-- The part of one Investor, with the balance and the carry after it. A closed week has a row for everybody who was ACTIVE.
-- The largest table: no foreign keys, its writer holds the locks of all that it names.
create table allocation_row (
  master_login    text not null,
  number          bigint not null,
  subscription_id bigint not null,
  amount_minor    bigint not null,
  pooled_minor    bigint not null,
  carry_e8        bigint not null,
  floating_e8     bigint not null default 0,
  primary key (master_login, number, subscription_id)
);

-- A result on its way to an Investor account.
create table posting (
  id             bigint generated always as identity primary key,
  key            text generated always as ('subscription:posting:' || id) stored unique,
  investor_login text not null references investor_account,
  amount_minor   bigint not null check (amount_minor <> 0),
  state          text not null check (state in ('OPEN', 'APPLIED', 'REFUSED')),
  created_at     timestamptz not null,
  closed_at      timestamptz,
  next_try_at    timestamptz not null,
  tries          integer not null default 0,
  reason         text,
  check ((state = 'OPEN') = (closed_at is null))
);

-- One at a time covers everything that is decided by then.
create unique index posting_one_open on posting (investor_login) where state = 'OPEN';
create index posting_due on posting (next_try_at) where state = 'OPEN';

-- Fees that have left an Investor, by the key of their transfer: these are not open any more, whatever fee knows yet.
create table fee_debit (
  key            text primary key,
  investor_login text not null,
  log_number     bigint not null,
  amount_minor   bigint not null check (amount_minor > 0)
);

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
  fee_suffix         text not null default '',
  -- WAITING for money on its way; GATED: the gate of the Master is closed for it; SETTLED: its place in the Master's log is fixed.
  state              text not null check (state in ('WAITING', 'GATED', 'SETTLED', 'DECIDED', 'REFUSED')),
  subscription_id    bigint references subscription,
  master_login       text,
  settled_number     bigint,
  -- Of the instant at which it was settled: what the four numbers are made of.
  settled_at         timestamptz,
  allocation_number  bigint,
  period_start       timestamptz,
  unposted_minor     bigint,
  quarantined_minor  bigint,
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
  check (
    state not in ('SETTLED', 'DECIDED')
    or num_nulls(settled_at, allocation_number, period_start, unposted_minor, quarantined_minor) = 0
  ),
  check (state <> 'DECIDED' or num_nulls(before_minor, pending_minor, available_minor, effective_minor) = 0)
);

create unique index leave_one_undecided_try on leave (key) where state <> 'REFUSED';

create view leave_row as
  select key, try, investor_login as "investorLogin", kind, requested_minor as requested,
         held_balance_minor as "heldBalance", held_log_number as "heldLogNumber", payout_key as "payoutKey", state,
         subscription_id as "subscriptionId", master_login as "masterLogin", settled_number as "settledNumber",
         before_minor as before, pending_minor as pending, available_minor as available, effective_minor as effective,
         refusal, fee_suffix as "feeSuffix", settled_at as "settledAt", allocation_number as "allocationNumber",
         period_start as "periodStart", unposted_minor as unposted, quarantined_minor as quarantined
  from leave;

-- Every unassign that was ever asked for and found its subscription, by the id of its command; its tries are rows of exit.
create table unassignment (
  command_id      text primary key check (command_id <> ''),
  subscription_id bigint not null references subscription,
  asked_at        timestamptz not null,
  -- Its caller waits no longer.
  deadline_at     timestamptz not null,
  -- Set with ended_at when its caller was told no.
  refusal         jsonb,
  ended_at        timestamptz,
  check (refusal is null or ended_at is not null)
);

create index unassignment_by_subscription on unassignment (subscription_id);

-- How the service reads assigns and unassigns. OPEN: it may still happen. BETWEEN_TRIES: this try was refused, and while
-- its caller waits another one may follow. An assign that was refused and asked for again has several rows: the newest one
-- counts. An exit that is of another command by now was refused to this one before.
create view operation_row as
  select subscription.command_id as "commandId", 'assign' as action, subscription.id as "subscriptionId",
         investor_login as "investorLogin", master_login as "masterLogin",
         case when status in ('ACTIVE', 'PAUSED', 'CANCELLED') then 'EXECUTED'
              when status = 'ABORTED' then 'NOT_EXECUTED'
              else 'OPEN' end as phase,
         refusal ->> 'code' as "refusalCode", deadline_at as "deadlineAt", created_at as "createdAt",
         started_at as "finishedAt"
  from subscription
  join assignment on assignment.subscription_id = subscription.id
  where command_id <> ''
    and not exists (select from subscription newer
                    where newer.command_id = subscription.command_id and newer.id > subscription.id)
  union all
  select unassignment.command_id, 'unassign', subscription.id, investor_login, master_login,
         case when exit.command_id = unassignment.command_id and exit.state = 'LEFT' then 'EXECUTED'
              when exit.command_id = unassignment.command_id and exit.state <> 'REFUSED' then 'OPEN'
              when unassignment.refusal is not null or exit.command_id <> unassignment.command_id then 'NOT_EXECUTED'
              else 'BETWEEN_TRIES' end,
         case when exit.command_id <> unassignment.command_id then unassignment.refusal ->> 'code'
              else coalesce(unassignment.refusal, exit.refusal) ->> 'code' end,
         unassignment.deadline_at, asked_at, unassignment.ended_at
  from unassignment
  join subscription on subscription.id = unassignment.subscription_id
  join exit on exit.subscription_id = unassignment.subscription_id;

-- What raised a negative Investor to 0.00: external funds of its Master became its own. No result, so no fee knows of it.
create table compensation (
  case_id         bigint not null references review_case,
  subscription_id bigint not null references subscription,
  amount_minor    bigint not null check (amount_minor > 0),
  compensated_at  timestamptz not null,
  primary key (case_id, subscription_id)
);

create index compensation_by_subscription on compensation (subscription_id);

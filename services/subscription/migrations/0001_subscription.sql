-- The pools of the Masters: which Investor is in which, the bucket that each cent is in, and how results become parts of Investors.
-- In the order of a capital: pools and Investors, into a pool, results, out of a pool, operations, tables that services share, what callers are notified of.

-- The generation of platform's permits in which amounts are calculated: the last one in which this service has seen them granted. Without a
-- row it is the first one.
create table permit_generation (
  is_only    boolean primary key default true check (is_only),
  generation bigint not null
);

-- A Master's pool: the money on its login that belongs to no Investor, and its progress.
create table master_pool (
  login                text primary key,
  filed_number         bigint not null default -1 check (filed_number >= -1),
  -- Highest filed ticket, now and at the last strike: a later deal with a lower ticket than at the strike stops the Master.
  filed_deal_id        bigint not null default 0,
  struck_deal_id       bigint not null default 0,
  -- Own capital: money on the login that belongs to no Investor, in the same buckets as a holding. It shares in results; while
  -- no holding has units it is suspense and gets them whole. A withdrawal may take the pooled amount below zero.
  own_waiting_minor    bigint not null default 0 check (own_waiting_minor >= 0),
  own_pooled_minor     bigint not null default 0,
  own_unredeemed_minor bigint not null default 0 check (own_unredeemed_minor >= 0),
  own_units            numeric not null default 0 check (own_units >= 0 and own_units = trunc(own_units)),
  own_carry_e8         bigint not null default 0,
  -- Sums over the holdings of the pool, so that a strike of the flat pool reads only those with flows. Flows move money between pooled and
  -- unredeemed only, so the sums change with units, carries and results, and in their statement.
  holdings_units       numeric not null default 0,
  -- Pooled and unredeemed money of the holdings with units, and their carries.
  holdings_minor       bigint not null default 0,
  holdings_carry_e8    bigint not null default 0,
  -- The same of the holdings without units: of those that a loss has taken below zero, and carries of emptied ones.
  unitless_minor       bigint not null default 0,
  unitless_carry_e8    bigint not null default 0,
  -- Number of holdings with units and no money, pooled or unredeemed: the next strike of the flat pool takes their units.
  emptied_holdings     bigint not null default 0,
  -- What parties other than this service have moved on the login in total, less compensations; its money is in own_.
  external_minor       bigint not null default 0,
  -- external_minor when operators acknowledged the own capital; a movement since then needs a review of its own.
  external_acknowledged_minor bigint,
  -- Log positions of the first of these movements that no operator has decided about, and of the last one with its ticket.
  external_since       bigint not null default -1,
  external_number      bigint not null default -1,
  external_deal_id     bigint not null default 0,
  -- As in investor_account, of what operators have not decided about.
  cause                jsonb,
  -- Transfers that the platform has executed and whose records were lost with commits of a database: flows and exits that are still to
  -- be mirrored are settled with them.
  imported_mirrors_minor bigint not null default 0,
  imported_exits_minor bigint not null default 0 check (imported_exits_minor <= 0),
  -- Of the results of a lost time: what they were more than their postings to Investors in the pool and the part of own capital. Part of
  -- imported_mirrors_minor unless own capital has units.
  unexplained_minor bigint not null default 0,
  -- Trading results that are not allocated yet; their rows are in master_result.
  unallocated_minor    bigint not null default 0,
  -- Allocation number of the newest allocation entry.
  last_allocation      bigint not null default 0 check (last_allocation >= 0),
  -- Last cut-off up to which weeks are closed; null while no subscription is ACTIVE, because then no week is closed.
  weeks_closed_through timestamptz,
  -- All open positions of the Master are in the books: it had no money before the service, or was marked at a strike since.
  are_positions_known  boolean not null default true,
  -- The cash of the whole pool, with what floated at its last valuation, was below zero after the last result, strike or valuation.
  is_in_deficit        boolean not null default false,
  -- Set while operations on this Master are suspended pending manual review.
  stopped_reason       text,
  -- Log position up to which operators have accepted deals that would otherwise stop the Master.
  accepted_deals_number bigint not null default -1,
  -- When the next attempt to mark the Master for a strike or a week may be made, and why the last one failed.
  mark_next_at         timestamptz not null default '-infinity',
  mark_tries           integer not null default 0,
  mark_reason          text,
  -- When the pool is valued next for its track record; null while no position is open.
  value_next_at        timestamptz,
  -- Consecutive refused mirrors, for the back-off of the next one.
  mirror_refusals      integer not null default 0,
  mirror_next_at       timestamptz not null default '-infinity',
  mirror_reason        text,
  -- While the broker has archived its account, inflows stay on the accounts of their Investors: when it is asked next whether the platform
  -- shows it again. Null otherwise.
  archived_next_at     timestamptz,
  -- Since when money that is to leave the Master waits for its free margin, consecutive refusals for want of it, and the next try.
  margin_since         timestamptz,
  margin_refusals      integer not null default 0,
  margin_next_at       timestamptz not null default '-infinity',
  -- Since when flows wait for a price of the Master's open positions, which price, and when it is looked for again.
  price_since          timestamptz,
  price_reason         text,
  price_next_at        timestamptz not null default '-infinity',
  -- Since when the Master is being closed: no assignment begins, and every Investor leaves. It stays, a Master is not opened again.
  closing_at           timestamptz,
  -- When nothing of its pool was left: it is archived.
  closed_at            timestamptz,
  check (closed_at is null or closing_at is not null)
);

create index master_pool_own_flows on master_pool (login) where own_waiting_minor > 0 or own_unredeemed_minor > 0;
create index master_pool_weeks on master_pool (weeks_closed_through) where weeks_closed_through is not null;
create index master_pool_valued on master_pool (value_next_at) where value_next_at is not null;
create index master_pool_archived on master_pool (archived_next_at) where archived_next_at is not null;
create index master_pool_closing on master_pool (login) where closing_at is not null and closed_at is null;

-- Subscriptions of Investors to Masters, each with the saga that begins it: recorded before the first call to platform, decided once (started_at), then
-- only finished. ASSIGNING and ABORTED are never shown to callers.
create table subscription (
  id                bigint generated always as identity primary key,
  -- Of the assign; empty when it was refused and is repeated.
  command_id        text not null,
  master_id         bigint not null,
  master_login      text not null,
  investor_id       bigint not null,
  investor_login    text not null check (investor_login <> master_login),
  status            text not null check (status in ('ASSIGNING', 'ACTIVE', 'PAUSED', 'CANCELLED', 'ABORTED')),
  created_at        timestamptz not null,
  started_at        timestamptz,
  ended_at          timestamptz,
  -- Id of the log entry of platform at which the baseline was taken.
  baseline_entry_id bigint,
  -- What the account had then.
  held_balance_minor bigint,
  fee_rate_ppm      integer check (fee_rate_ppm between 0 and 1000000),
  fee_enabled       boolean,
  -- The recovery job aborts an assignment that is not decided by then.
  deadline_at       timestamptz,
  -- It may hold the account lock of the Investor: the saga has not ended.
  may_hold_lock     boolean not null default false,
  refusal           jsonb,
  next_try_at       timestamptz not null default '-infinity',
  tries             integer not null default 0,
  reason            text,
  check (not may_hold_lock or num_nulls(fee_rate_ppm, fee_enabled, deadline_at) = 0),
  check (status not in ('ACTIVE', 'PAUSED', 'CANCELLED') or (started_at is not null and baseline_entry_id is not null)),
  check ((status = 'CANCELLED') = (ended_at is not null))
);

create unique index subscription_one_open on subscription (investor_login)
  where status in ('ASSIGNING', 'ACTIVE', 'PAUSED');
create index subscription_unreleased on subscription (next_try_at) where may_hold_lock;
create index subscription_active on subscription (master_login, investor_id) where status = 'ACTIVE';
create index subscription_paused on subscription (id) where status = 'PAUSED';
create index subscription_by_master on subscription (master_login, id);
create index subscription_ended on subscription (master_login, ended_at) where ended_at is not null;
create index subscription_by_investor on subscription (investor_login, id);
-- Subscriptions are searched in the order of their start.
create index subscription_by_start on subscription (status, started_at, id) where started_at is not null;
create index subscription_of_master_by_start on subscription (master_login, status, started_at, id) where started_at is not null;
create index subscription_of_investor_by_start on subscription (investor_login, status, started_at, id) where started_at is not null;
-- A refused command may be repeated under its id; any other repeated command is answered from its row.
create unique index subscription_one_per_command on subscription (command_id)
  where status <> 'ABORTED' and command_id <> '';
-- GetOperation finds an assign by its command also when it was refused.
create index subscription_by_command on subscription (command_id);
-- Assigns are listed newest first, by ids that grow with time.
create index subscription_newest on subscription (command_id collate "C") where command_id <> '';
create index subscription_newest_of_master on subscription (master_login, command_id collate "C") where command_id <> '';
create index subscription_newest_refused on subscription (command_id collate "C") where status = 'ABORTED' and command_id <> '';
create index subscription_newest_open on subscription (command_id collate "C") where status = 'ASSIGNING' and command_id <> '';

-- An Investor login: the log position up to which it is filed, and its money outside of any pool.
create table investor_account (
  login                  text primary key,
  filed_number           bigint not null default -1 check (filed_number >= -1),
  pooled_subscription_id bigint references subscription,
  outside_minor          bigint not null default 0,
  quarantined_minor      bigint not null default 0,
  -- The part of quarantined_minor that an operator has acknowledged.
  quarantine_acknowledged_minor bigint not null default 0,
  -- Number of the last entry of the log that has changed quarantined_minor and is no trade of the account; -1 before the first one.
  moved_number           bigint not null default -1,
  -- The part of quarantined_minor that is adopted by rule, as soon as the pool allows it. Operators decide about the rest.
  to_adopt_minor         bigint not null default 0,
  -- Action, comment and day (UTC) of the deals that have moved its amount (cents): of the rest when it is this amount, otherwise it has several causes.
  cause                  jsonb,
  -- As moved_number, when an operator acknowledged the amount.
  acknowledged_number    bigint not null default -1,
  -- Needs a review, or an acknowledgement has to be reset because the money is gone. An acknowledgement holds for what the account's own
  -- trades make of the amount, up to its double.
  is_unacknowledged      boolean not null generated always as (
    case when quarantined_minor - to_adopt_minor = 0 then quarantine_acknowledged_minor <> 0
         else moved_number > acknowledged_number or sign(quarantined_minor - to_adopt_minor) <> sign(quarantine_acknowledged_minor)
              or abs(quarantined_minor - to_adopt_minor) > 2 * abs(quarantine_acknowledged_minor)
    end) stored,
  -- Allocated results that are not posted yet.
  unposted_minor         bigint not null default 0,
  -- The results of an account are posted one transfer at a time, with the key posting:<login>:<number>. Number of the last one: 1, 2, 3 ... A number is used
  -- once, also when its transfer was refused.
  posting_number         bigint not null default 0 check (posting_number >= 0),
  -- Signed amount of the posting in flight, committed before its transfer is requested. Null unless one is in flight: then the next one covers what
  -- was allocated since.
  posting_minor          bigint check (posting_minor <> 0),
  -- Generation of the permits in which the amount was calculated.
  posting_generation     bigint,
  posting_tries          integer not null default 0,
  -- Consecutive refused postings.
  posting_refusals       integer not null default 0,
  -- When the posting in flight is requested again, or the next one may be made.
  posting_next_at        timestamptz not null default '-infinity',
  -- Why the posting in flight waits, or the last one was refused.
  posting_reason         text,
  -- Numbers of transfers that platform has and that this service has not requested, or with another amount.
  unrequested_postings   bigint[] not null default '{}',
  check (to_adopt_minor = 0 or pooled_subscription_id is not null),
  check ((posting_minor is null) = (posting_generation is null))
);

create index investor_account_posting on investor_account (posting_next_at) where unposted_minor <> 0 or posting_minor is not null;
create index investor_account_external on investor_account (login) where is_unacknowledged;
create index investor_account_to_adopt on investor_account (login) where to_adopt_minor <> 0;

-- The buckets of a subscription. Only the pooled amount can be negative, after a loss.
create table holding (
  subscription_id  bigint primary key references subscription,
  master_login     text not null references master_pool,
  investor_login   text not null references investor_account,
  inbound_minor    bigint not null default 0 check (inbound_minor >= 0),
  waiting_minor    bigint not null default 0 check (waiting_minor >= 0),
  pooled_minor     bigint not null default 0,
  reserved_minor   bigint not null default 0 check (reserved_minor >= 0),
  outbound_minor   bigint not null default 0 check (outbound_minor >= 0),
  -- Already taken from the pooled amount; its units are redeemed at the next possible strike.
  unredeemed_minor bigint not null default 0 check (unredeemed_minor >= 0),
  -- Units decide the share of results. Numeric, because numbers that are scaled by units or by 1e24 do not fit 64 bits.
  units            numeric not null default 0 check (units >= 0 and units = trunc(units)),
  -- Remainder of rounding to cents, 1e-8 USD.
  carry_e8         bigint not null default 0
  -- A result updates each row of a pool: its new version fits beside the old one, and no index changes.
) with (fillfactor = 50);

create index holding_by_master on holding (master_login, subscription_id);
create index holding_by_investor on holding (investor_login);
create index holding_waiting on holding (master_login) where waiting_minor > 0;
create index holding_unredeemed on holding (master_login) where unredeemed_minor > 0;

-- One transfer on a Master for the net of its open flows. The flows of a refused mirror go into the next one.
create table mirror (
  id           bigint generated always as identity primary key,
  key          text not null generated always as ('subscription:mirror:' || id) stored unique,
  master_login text not null references master_pool,
  amount_minor bigint not null,
  -- The part of its flows that imported transfers have moved already.
  imported_minor bigint not null default 0,
  -- Generation of the permits in which the amount was calculated.
  generation   bigint not null,
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

-- A Master has at most one open mirror.
create unique index mirror_one_open on mirror (master_login) where state = 'OPEN';
create index mirror_due on mirror (next_try_at) where state = 'OPEN';

-- A change of an Investor's capital that the Master has to mirror; signed.
create table flow (
  id              bigint generated always as identity primary key,
  subscription_id bigint not null references subscription,
  master_login    text not null references master_pool,
  amount_minor    bigint not null check (amount_minor <> 0),
  -- Key of the transfer on the Investor that it follows from: a deposit finds its mirror by it. Null when no transfer of a service did.
  source_key      text,
  created_at      timestamptz not null,
  -- The mirror that carries the flow; null while no mirror does.
  mirror_id       bigint references mirror on delete cascade
);

create index flow_waiting on flow (master_login, id) where mirror_id is null;
create index flow_by_mirror on flow (mirror_id);
create index flow_by_source on flow (source_key) where source_key is not null;
-- The flows of an Investor in a time, for the explanation of a fee.
create index flow_by_subscription on flow (subscription_id, created_at);

-- The parts of holding.waiting_minor, each with the log position of the Master from which on it takes part in results; and
-- those of master_pool.own_waiting_minor (positive) and own_unredeemed_minor (negative).
create table arrival (
  id              bigint generated always as identity primary key,
  -- The highest bigint, 9223372036854775807, is own capital, therefore without a foreign key.
  subscription_id bigint not null,
  master_login    text not null references master_pool,
  -- Log position of the last entry in which it takes no part, and the highest ticket up to that entry.
  number          bigint not null,
  deal_id         bigint not null,
  amount_minor    bigint not null check (amount_minor > 0 or (amount_minor < 0 and subscription_id = 9223372036854775807))
);

create index arrival_by_master on arrival (master_login, subscription_id);

-- Deals of a Master's trader in the order of its log, to be allocated to the Investors.
create table master_result (
  master_login  text not null references master_pool,
  -- Log position.
  number        bigint not null,
  deal_id       bigint not null,
  deal_at       timestamptz not null,
  amount_minor  bigint not null,
  action        integer not null,
  entry         integer not null,
  position_id   bigint not null,
  volume        bigint not null,
  volume_closed bigint not null,
  profit_minor  bigint not null,
  swap_minor    bigint not null,
  allocated_at  timestamptz,
  primary key (master_login, number)
);

create index master_result_unallocated on master_result (master_login, number) where allocated_at is null;

-- The database whose books have each result that the platform has posted; null while they may lack some. In another one no result is allocated,
-- and nothing is struck, posted or decided. One row.
create table settled_database (
  is_only  boolean primary key default true check (is_only),
  database text
);

-- Postings to Investors that the platform has executed and whose records were lost with commits of a database.
create table lost_result (
  login         text not null references investor_account,
  -- Log position.
  number        bigint not null,
  amount_minor  bigint not null,
  posted_at     timestamptz not null,
  -- Null until results are allocated as it shows.
  booked_at     timestamptz,
  -- What of it was booked outside of a pool, because by the books the Investor was in none.
  outside_minor bigint not null default 0,
  -- Commands have been sent again since.
  is_settled    boolean not null default false,
  primary key (login, number)
);

create index lost_result_open on lost_result (login) where not is_settled;

-- An open position of a Master's trader with its attributed floating result: mark and per_unit, in 1e-8 USD scaled by 1e24; and with the one
-- at which the pool was valued last, which is for the track record and for deficits.
create table pool_position (
  master_login text not null references master_pool,
  position_id  bigint not null,
  -- Lots in units of 1e-8.
  volume       bigint not null,
  mark         numeric not null,
  per_unit     numeric not null,
  valued       numeric not null,
  primary key (master_login, position_id)
);

-- The attributed floating result of a holding whose units changed while the position was open.
create table accrual (
  master_login    text not null references master_pool,
  position_id     bigint not null,
  -- As in arrival.
  subscription_id bigint not null,
  basis           numeric not null,
  per_unit        numeric not null,
  primary key (master_login, position_id, subscription_id)
);

-- Allocated results and closed weeks of a Master, in the order of their allocation numbers 1, 2, 3 ... without gaps.
create table allocation_entry (
  master_login   text not null references master_pool,
  number         bigint not null check (number > 0),
  kind           text not null check (kind in ('RESULT', 'WEEK')),
  created_at     timestamptz not null,
  -- Units of the whole pool, own capital included.
  pool_units     numeric not null,
  -- Only for a result: its log position on the Master, its deal, and the part of own capital.
  log_number     bigint,
  deal_id        bigint,
  deal_at        timestamptz,
  result_minor   bigint,
  own_minor      bigint,
  -- What a compensation of the platform has raised holdings below zero by, own capital included; not in result_minor.
  raised_minor   bigint not null default 0 check (raised_minor >= 0),
  -- What of a result of a lost time was posted to Investors who are in no pool by the restored books: it settles their flows.
  elsewhere_minor bigint not null default 0,
  -- Review by which operators have allocated money that others moved, which log_number names; 0 for a deal. The deal and its time are those of
  -- the deal that it repairs, if there is one.
  case_id        bigint not null default 0,
  -- The performance after a result, as in performance_day: value of a unit in 1e-18 USD, how far it is below its highest value so far,
  -- and value of all units in 1e-8 USD. Null for a result of units without a value.
  unit_value     numeric,
  drawdown_ppm   integer,
  pool_value_e8  numeric,
  -- Only for a closed week, half-open; marked_at is null when the Master was flat.
  period_start   timestamptz,
  cut_off        timestamptz,
  marked_at      timestamptz,
  primary key (master_login, number),
  unique (master_login, log_number, case_id),
  unique (master_login, cut_off),
  check (num_nulls(log_number, deal_id, deal_at, result_minor, own_minor) = case kind when 'RESULT' then 0 else 5 end),
  check (kind = 'RESULT' or (raised_minor = 0 and case_id = 0)),
  check (num_nulls(unit_value, drawdown_ppm, pool_value_e8) in (0, 3) and (kind = 'RESULT' or unit_value is null)),
  check (num_nulls(period_start, cut_off) = case kind when 'WEEK' then 0 else 2 end),
  check (kind = 'WEEK' or marked_at is null)
);
select append_only('allocation_entry');
-- Repairs, in which Investors who have left the pool can have a part.
create index allocation_entry_repairs on allocation_entry (master_login, number) where case_id <> 0;

-- One Investor's part of an allocation entry, with its pooled amount and carry after it; also a part of 0.00 of a holding with units, because
-- what repairs a result is divided by the units of that time. A closed week has a row for each ACTIVE subscription. The largest table, therefore without foreign keys: its writer has locked the rows it refers to.
create table allocation_row (
  master_login    text not null,
  number          bigint not null,
  subscription_id bigint not null,
  -- The units by which the Investor has its part.
  units           numeric not null,
  amount_minor    bigint not null,
  pooled_minor    bigint not null,
  carry_e8        bigint not null,
  -- Share of the floating result at a closed week.
  floating_e8     bigint not null,
  primary key (master_login, number, subscription_id)
);
select append_only('allocation_row');

-- For change_id of the pairs.
create sequence pair_change;

-- The profit of an Investor with a Master, over all its subscriptions, as of an allocation entry. It follows from the allocation rows and the
-- decided fees, and is brought up to date when a fee is decided.
create table pair (
  investor_login  text not null references investor_account,
  master_login    text not null references master_pool,
  -- The last entry before it began: results up to it are of others.
  begun_number    bigint not null default 0,
  folded_number   bigint not null,
  -- G: the sum of all results.
  earned_minor    bigint not null default 0,
  -- H: the high-water mark.
  mark_e8         bigint not null default 0 check (mark_e8 >= 0),
  -- When the last fee was decided.
  crystallised_at timestamptz,
  -- Drawn again with each change: the check reads what has changed since its last run.
  change_id       bigint not null unique,
  primary key (investor_login, master_login)
);

-- L: the profit of a pair for which no fee was decided yet. The layers fill the interval from its mark to its earned result. Written with the
-- pair, under its lock: a foreign key would look up each pair again.
create table layer (
  master_login   text not null,
  investor_login text not null,
  -- From bottom to top.
  number         integer not null check (number > 0),
  amount_e8      bigint not null check (amount_e8 > 0),
  -- Times of the earliest and the latest deal.
  earned_from    timestamptz not null,
  earned_to      timestamptz not null,
  primary key (master_login, investor_login, number),
  check (earned_from <= earned_to)
);

-- Each pair as the check has compared it last: a mark below this one was decreased, and only parts after folded_number are new.
create table reconciliation_mark (
  investor_login text not null,
  master_login   text not null,
  mark_e8        bigint not null,
  folded_number  bigint not null,
  earned_minor   bigint not null,
  primary key (investor_login, master_login)
);

-- Closed weeks whose fees are being decided, a page of Investors after the other.
create table open_week (
  id                      bigint generated always as identity primary key,
  master_login            text not null references master_pool,
  -- Its allocation entry.
  number                  bigint not null,
  -- The Investors up to this subscription are decided.
  decided_subscription_id bigint not null default 0,
  next_try_at             timestamptz not null default '-infinity',
  tries                   integer not null default 0,
  reason                  text,
  unique (master_login, number)
);
create index open_week_due on open_week (next_try_at);

-- Fees that were decided together, until `fee` has recorded them and for an hour after that: those of a page of a closed week, or of a withdrawal
-- or exit.
create table fee_decision (
  id           bigint generated always as identity primary key,
  -- Of the run; outside a pool the Master of the first debt.
  master_login text not null,
  -- Key of the departure and its Investor; empty for a week.
  departure_key    text not null,
  investor_login text not null check ((investor_login = '') = (departure_key = '')),
  -- A week from its start to its cut-off; of a departure from the fee before to the decision.
  period_start timestamptz not null,
  period_end   timestamptz not null,
  -- No further Investors of the week remain.
  is_last      boolean not null,
  -- Keys of open weekly fees that a departure collects first.
  weekly_keys  text[] not null default '{}',
  recorded_at  timestamptz,
  next_try_at  timestamptz not null default clock_timestamp() + interval '5 seconds',
  tries        integer not null default 0,
  reason       text,
  check (period_start < period_end)
);
create unique index fee_decision_of_departure on fee_decision (departure_key) where departure_key <> '';
create index fee_decision_unrecorded on fee_decision (master_login, id) where recorded_at is null;
create index fee_decision_due on fee_decision (next_try_at, id) where recorded_at is null;

-- The fees of a decision, in the sequence of collection for each Investor.
create table due_fee (
  decision_id    bigint not null references fee_decision on delete cascade,
  number         integer not null check (number > 0),
  investor_login text not null,
  -- Key of the transfer that collects it.
  key            text not null unique,
  kind           text not null check (kind in ('PF', 'PF_DEBT')),
  -- W, WD<operation id>, UA<subscription id> or DEBT.
  suffix         text not null,
  -- The Master to whom it is owed.
  owed_to        text not null,
  amount_minor   bigint not null check (amount_minor > 0),
  owed_since     timestamptz not null,
  -- The facts that it follows from; null for a debt.
  explanation    jsonb,
  primary key (decision_id, number)
);
create index due_fee_by_investor on due_fee (investor_login);

-- The value of a unit of a pool over time, free of deposits, withdrawals and fees: a row for each part of a day on which the pool was valued, by a
-- result of its Master or by the marks of its open positions. A part is the same day in UTC and on the trade server, so both kinds of days are
-- made of such parts.
create table performance_day (
  master_login   text not null references master_pool,
  -- Such as 2026-01-31: in UTC, and as the clock of the trade server showed it.
  day            text not null check (day like '____-__-__'),
  server_day     text not null check (server_day like '____-__-__'),
  -- In 1e-18 USD, at the end: 1 USD before the first result. 0 when everything was lost; then it begins with 1 USD again.
  value          numeric not null check (value >= 0),
  -- Of all valuations. The lowest one is 0 when everything was lost, and only then.
  lowest         numeric not null check (lowest between 0 and value),
  highest        numeric not null check (highest >= value),
  -- Highest value so far.
  peak           numeric not null check (peak >= value),
  -- Largest fall below the peak, and below a higher value before it within the part.
  drawdown_ppm   integer not null check (drawdown_ppm between 0 and 1000000),
  fall_ppm       integer not null check (fall_ppm between 0 and 1000000),
  result_minor   bigint not null,
  -- All units and their value, 1e-8 USD, after the last valuation.
  pool_value_e8  numeric not null,
  pool_units     numeric not null check (pool_units >= 0),
  -- The value of all units that value belongs to, while open positions have made them worthless since.
  worth_e8       numeric check (worth_e8 > 0),
  deal_id        bigint not null,
  valued_at      timestamptz not null,
  primary key (master_login, day, server_day)
);

-- One row: the length of fee weeks and any cut-off, as the service was configured when it started last. A start with others is refused while
-- Masters close weeks.
create table fee_week (
  is_only   boolean primary key default true check (is_only),
  period_ms bigint not null check (period_ms > 0),
  anchor    timestamptz not null
);

-- Money that leaves an Investor: a withdrawal, from a pool or outside of one, or the end of a subscription. The row is committed before another service is
-- called, and one update of its state decides between a try, a caller that cancels it, its expiry and the recovery job.
create table departure (
  -- Of the withdrawal or the unassign.
  operation_id       text primary key check (operation_id <> ''),
  kind               text not null check (kind in ('WITHDRAWAL', 'EXIT')),
  investor_login     text not null,
  -- EXIT: the subscription that ends, and its Master. WITHDRAWAL: those of the pool in which it was decided; null outside.
  subscription_id    bigint references subscription,
  master_login       text,
  -- Of a withdrawal: what is to be paid out, and the comment of the payout.
  requested_minor    bigint not null default 0,
  comment            text not null default '',
  request_id         text not null,
  requested_at       timestamptz not null,
  -- The caller does not wait beyond this instant.
  deadline_at        timestamptz not null,

  -- WANTED: a try runs. WAITING: nothing runs, and no account lock is held, until the Master is flat. DECIDED: the amounts are taken out of the pool and
  -- reserved, and what follows is always completed. ENDED and REFUSED: the end.
  state              text not null check (state in ('WANTED', 'WAITING', 'DECIDED', 'ENDED', 'REFUSED')),
  -- Each try has an account lock of its own.
  try                integer not null default 1 check (try > 0),
  -- Of the account lock of the try, from before it is asked for; null once it is certainly released.
  lock_owner         text,
  -- With an account lock: when the process that works on it is gone. WAITING: no try before.
  next_try_at        timestamptz not null,
  tries              integer not null default 0 check (tries >= 0),
  -- Why the last try failed.
  reason             text,
  refusal            jsonb,
  -- REFUSED, or EXIT: decided, or ENDED.
  ended_at           timestamptz,

  -- It may wait until its Master is flat: its last try begins by then. Null: its caller has not asked for that.
  queue_until        timestamptz,
  -- Of a Master that is being closed: tried until the Investor has left, and no caller sees that it waits.
  is_closing         boolean not null default false,
  has_waited         boolean not null default false,
  -- Since when the Master has been flat without a break, while it waits; null while it is not.
  ready_at           timestamptz,

  -- The decision. The last allocation of the Master by then; null outside a pool.
  allocation_number  bigint,
  before_minor       bigint,
  pending_minor      bigint,
  available_minor    bigint,
  effective_minor    bigint,
  -- EXIT: the status of the subscription as it was decided.
  left_status        text check (left_status in ('PAUSED', 'CANCELLED')),
  -- Ticket of the payout.
  deal_id            bigint,

  check (case kind when 'WITHDRAWAL' then requested_minor > 0 else requested_minor = 0 and comment = '' end),
  check (kind = 'WITHDRAWAL' or (subscription_id is not null and master_login is not null)),
  check ((state = 'REFUSED') = (refusal is not null)),
  check (state not in ('WANTED', 'DECIDED') or lock_owner is not null),
  check (state <> 'ENDED' or lock_owner is null),
  check (state not in ('DECIDED', 'ENDED') or num_nulls(before_minor, pending_minor, available_minor, effective_minor) = 0),
  check ((left_status is not null) = (kind = 'EXIT' and state in ('DECIDED', 'ENDED'))),
  check (queue_until is null or not is_closing),
  check (state <> 'WAITING' or queue_until is not null or is_closing)
);

-- One exit of a subscription is decided, and of those that may wait one of its callers is open.
create unique index departure_left on departure (subscription_id) where kind = 'EXIT' and state in ('DECIDED', 'ENDED');
create unique index departure_queued on departure (subscription_id, is_closing)
  where kind = 'EXIT' and state in ('WANTED', 'WAITING') and (queue_until is not null or is_closing);
create index departure_unsettled on departure (next_try_at) where lock_owner is not null;
create index departure_waiting on departure (next_try_at) where state = 'WAITING';
create index departure_waiting_of_investor on departure (investor_login) where state = 'WAITING';
create index departure_of_subscription on departure (subscription_id) where kind = 'EXIT';
-- Exits are listed as assigns are. Those that are not executed are few.
create index departure_newest on departure (operation_id collate "C") where kind = 'EXIT';
create index departure_newest_of_master on departure (master_login, operation_id collate "C") where kind = 'EXIT';
create index departure_newest_refused on departure (operation_id collate "C") where kind = 'EXIT' and state = 'REFUSED';
create index departure_newest_open on departure (operation_id collate "C") where kind = 'EXIT' and state in ('WANTED', 'WAITING');

-- The amount that is reserved for one debit, under the key of its transfer: in the pool, or outside of it.
create table reserve (
  key             text primary key,
  subscription_id bigint not null references subscription,
  amount_minor    bigint not null check (amount_minor > 0),
  -- Taken out of inflows that have waited on the account for the end of a deficit: it never was on the Master.
  is_outside      boolean not null default false,
  -- RETURNED: the debit was refused for good and the amount went back to where it was taken from.
  state           text not null check (state in ('OPEN', 'SETTLED', 'RETURNED')),
  created_at      timestamptz not null,
  closed_at       timestamptz,
  check ((state = 'OPEN') = (closed_at is null))
);

create index reserve_open on reserve (subscription_id) where state = 'OPEN';

-- Fees that were debited from an Investor, by the key of their transfer: they are no longer due, even if the fee
-- service has not received the debit yet.
create table fee_debit (
  key            text primary key,
  investor_login text not null,
  log_number     bigint not null,
  amount_minor   bigint not null check (amount_minor > 0)
);
select append_only('fee_debit');

-- A transfer of an Investor's capital off the Master after an exit. Never netted, because its id was returned to the caller.
create table exit_transfer (
  id              bigint generated always as identity primary key,
  subscription_id bigint not null references subscription,
  -- 1, 2, 3 ... per subscription; a refused transfer is replaced under the next number.
  number          integer not null check (number > 0),
  key             text not null generated always as ('exit:' || subscription_id || ':' || number) stored unique,
  master_login    text not null references master_pool,
  amount_minor    bigint not null check (amount_minor > 0),
  -- Generation of the permits in which the amount was calculated.
  generation      bigint not null,
  state           text not null check (state in ('OPEN', 'APPLIED', 'REFUSED')),
  -- Id of the transfer in platform; set once platform has recorded it.
  transfer_id     bigint,
  deal_id         bigint,
  created_at      timestamptz not null,
  closed_at       timestamptz,
  next_try_at     timestamptz not null,
  tries           integer not null default 0,
  -- Consecutive refusals before this transfer, for the back-off of the next one.
  refusals        integer not null default 0,
  reason          text,
  unique (subscription_id, number),
  check ((state = 'OPEN') = (closed_at is null)),
  check ((state = 'APPLIED') = (deal_id is not null))
);

create index exit_transfer_due on exit_transfer (next_try_at) where state = 'OPEN';

-- The client's own id of an assign or unassign, and its data. Recorded before the operation, so also for one that was refused.
create table operation_label (
  command_id text primary key check (command_id <> ''),
  labels     jsonb not null check (jsonb_typeof(labels -> 'metadata') = 'object' and labels ->> 'externalId' <> '')
);
select append_only('operation_label');
create index operation_label_by_external_id on operation_label ((labels ->> 'externalId'));

-- Tables that services share.
\ir ../../kernel/postgres/lease.sql
\ir ../../kernel/feed/feed.sql
\ir ../../kernel/retention/retention.sql
\ir ../../kernel/states/state-changes.sql
\ir ../../kernel/reconcile/tables.sql
\ir ../../kernel/reconcile/handled-break.sql
\ir ../../kernel/review/review.sql

-- Amounts that raised a negative Investor: out of own capital of its Master, as operators decided, or by a deal of the platform. Not a
-- result, so no fee is charged.
create table compensation (
  subscription_id   bigint not null references subscription,
  case_id           bigint references review_case,
  -- Allocation entry of the deal.
  allocation_number bigint,
  amount_minor      bigint not null check (amount_minor > 0),
  compensated_at    timestamptz not null,
  check (num_nulls(case_id, allocation_number) = 1),
  unique (subscription_id, case_id),
  unique (subscription_id, allocation_number)
);
select append_only('compensation');

-- Triggers note what callers see of subscriptions, flows, mirrors, unassigns of the queue and exits.
create function note_subscription() returns trigger language plpgsql set search_path from current as $$
begin
  insert into state_change (kind, state, subject, login, master_login, operation_id)
  values ('subscription', new.status, new.id, new.investor_login, new.master_login,
          case when new.status = 'ACTIVE' then new.command_id
               else coalesce((select departure.operation_id from departure
                              where departure.subscription_id = new.id and kind = 'EXIT' and state in ('DECIDED', 'ENDED')), '') end);
  return null;
end
$$;

create trigger note_insert after insert on subscription for each row
  when (new.status in ('ACTIVE', 'PAUSED', 'CANCELLED')) execute function note_subscription();
create trigger note_update after update on subscription for each row
  when (new.status in ('ACTIVE', 'PAUSED', 'CANCELLED') and old.status is distinct from new.status)
  execute function note_subscription();

-- A flow waits to be mirrored from its insert on, also when a mirror that carried it was refused. All rows of a statement at once: flows of a
-- batch are recorded together.
create function note_flows() returns trigger language plpgsql set search_path from current as $$
begin
  insert into state_change (kind, state, subject, login, master_login, amount_minor)
  select 'mirror', 'pending', added.id, investor_login, added.master_login, added.amount_minor
  from added join subscription on subscription.id = added.subscription_id
  order by added.id;
  return null;
end
$$;

create trigger note_insert after insert on flow referencing new table as added
  for each statement execute function note_flows();

create function note_mirror() returns trigger language plpgsql set search_path from current as $$
begin
  insert into state_change (kind, state, subject, login, master_login, amount_minor, deal_id)
  select 'mirror', 'executed', flow.id, investor_login, new.master_login, flow.amount_minor, new.deal_id
  from flow join subscription on subscription.id = flow.subscription_id
  where flow.mirror_id = new.id
  order by flow.id;
  return null;
end
$$;

create trigger note_update after update on mirror for each row
  when (new.state = 'APPLIED' and old.state is distinct from new.state) execute function note_mirror();

create function note_queued_unassign() returns trigger language plpgsql set search_path from current as $$
begin
  insert into state_change (kind, state, subject, login, master_login, operation_id, reason)
  values ('unassign', case new.state when 'ENDED' then 'executed' when 'REFUSED' then 'not_executed' else 'pending' end,
          new.operation_id, new.investor_login, new.master_login, new.operation_id, coalesce(new.refusal ->> 'code', ''));
  return null;
end
$$;

create trigger note_insert after insert on departure for each row
  when (new.kind = 'EXIT' and new.queue_until is not null) execute function note_queued_unassign();
create trigger note_update after update on departure for each row
  when (new.kind = 'EXIT' and new.queue_until is not null and new.state in ('ENDED', 'REFUSED') and old.state <> new.state)
  execute function note_queued_unassign();

-- The transfers of an exit are legs of the operation that has begun it.
create function note_exit_transfer() returns trigger language plpgsql set search_path from current as $$
begin
  insert into state_change (kind, state, subject, login, master_login, operation_id, amount_minor, deal_id)
  select 'exit', case new.state when 'OPEN' then 'pending' when 'APPLIED' then 'executed' else 'not_executed' end,
         new.subscription_id || '-' || new.number, investor_login, new.master_login,
         coalesce((select departure.operation_id from departure
                   where departure.subscription_id = new.subscription_id and departure.kind = 'EXIT'
                     and departure.state in ('DECIDED', 'ENDED')), ''),
         -new.amount_minor, coalesce(new.deal_id, 0)
  from subscription where subscription.id = new.subscription_id;
  return null;
end
$$;

create trigger note_insert after insert on exit_transfer for each row execute function note_exit_transfer();
create trigger note_update after update on exit_transfer for each row
  when (old.state is distinct from new.state) execute function note_exit_transfer();

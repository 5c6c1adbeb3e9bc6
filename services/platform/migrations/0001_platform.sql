-- Transfers, legs and logs of the managed accounts. The rules that every writer has to keep are constraints here;
-- services/platform/protocol has the others. In this order: accounts, transfers and what is sent for them, logs, reading the history of the
-- platform, what a restore has lost and what operators decide, tables that services share.

-- A managed login: its role, the end of its log, and the account lock of the saga that holds it.
create table account (
  login           text primary key check (login ~ '^[1-9][0-9]{0,17}$'),
  role            text not null check (role in ('master', 'payment', 'investor')),
  platform_group  text not null,
  managed_at      timestamptz not null default clock_timestamp(),
  -- Deals before this instant are covered by the opening.
  reads_from      timestamptz not null,
  -- The last entry of the log, and the sum of all.
  log_number      bigint not null check (log_number >= 0),
  log_entry_id    bigint not null check (log_entry_id > 0),
  log_minor       bigint not null,
  -- Time of the oldest deal that is not classified as own or external yet, because an open leg could explain it.
  undecided_from  timestamptz,
  -- Lock owner of the account lock.
  locked_by       text check (locked_by <> ''),
  -- Legs with a lower number were recorded before the account lock and are still sent.
  lock_number     bigint,
  -- Set when all those legs are final. Before, the claim may be withdrawn; after, the lock can only be released.
  lock_granted_at timestamptz,
  -- No permit is granted before this instant: the facts of the account are being read.
  reading_until   timestamptz,
  -- Of the reader, which alone ends its reading.
  reading_token   text,
  -- When facts were last read: a leg that waited for one read is sent before the next read.
  read_at         timestamptz,
  -- Why no permit is granted for its transfers until operators decide.
  stopped_reason  text check (stopped_reason <> ''),
  -- Whether legs of it were lost with commits of the database.
  has_lost_movements boolean not null default false,
  -- Set when permits were resumed in another database before all its deals were in the log: one of them may be of a permit that the
  -- database has lost. No permit is granted until they are.
  may_lack_deals  boolean not null default false,
  -- Since when the platform has not shown the account, which has no money and nothing in progress. Its history is not read meanwhile.
  unshown_since   timestamptz,
  -- Runs of the check platform_balance in a row that were not shown it.
  missed_checks   integer not null default 0,
  -- Set when that was confirmed: the broker has archived or deleted it. Nothing is sent on it until the platform shows it again.
  archived_at     timestamptz,
  -- When the platform has created the account, in seconds of its clock, as it showed it last. Another value may be another account with the
  -- login.
  registration    bigint,
  -- When the platform showed it again last. Older deals may be gone with a deleted account.
  returned_at     timestamptz,
  check (unshown_since is not null or missed_checks = 0 and archived_at is null),
  check ((locked_by is null) = (lock_number is null)),
  check (lock_granted_at is null or locked_by is not null),
  check ((reading_until is null) = (reading_token is null)),
  check (not may_lack_deals or undecided_from is not null)
) with (fillfactor = 70);
create index account_undecided on account (login) where undecided_from is not null;
-- For the currencies of the groups.
create index account_of_group on account (platform_group, login);
-- For the reader, which learns of new accounts, and of those that are not shown, or shown again.
create index account_managed on account (managed_at);
create index account_unshown on account (unshown_since) where unshown_since is not null;
create index account_returned on account (returned_at) where returned_at is not null;

-- An account whose right to trade the service has taken, recorded before the command. It had the right, and gets it back when its Investor
-- is in no pool, or no Master pays its fees to it: a job asks for that, and removes the row when the platform shows the right again. An
-- account that could not trade before has no row. A payment account has its row before it is managed.
create table taken_right (
  login           text primary key,
  -- When it was taken last, or found to be needed by a registration.
  taken_at        timestamptz not null default clock_timestamp(),
  -- The right is being given back until then: no saga locks the account, and no Master gets it.
  returning_until timestamptz,
  next_try_at     timestamptz not null default clock_timestamp(),
  -- To give it back.
  tries           integer not null default 0 check (tries >= 0),
  -- Why the last try has failed.
  reason          text
);

-- The next login of the configured range; one row.
create table login_allocation (
  is_only boolean primary key default true check (is_only),
  next    bigint not null
);

-- The request to create an account, under the login that was chosen before the command was sent.
create table account_creation (
  key            text primary key check (key <> ''),
  role           text not null check (role in ('master', 'payment', 'investor')),
  platform_group text not null,
  login          text not null unique,
  requested_at   timestamptz not null default clock_timestamp(),
  -- When a command that may have created the account was sent under the login; null when each one was refused or not sent.
  sent_at        timestamptz,
  -- Set when the account exists and is managed.
  created_at     timestamptz
);

-- Lock owners that have released their lock. They can never acquire an account lock again.
create table released_lock (
  lock_owner  text primary key check (lock_owner <> ''),
  login       text not null,
  released_at timestamptz not null default clock_timestamp()
);
create index released_lock_by_time on released_lock (released_at);
select append_only('released_lock');

-- Removes the oldest rows of before an instant, never those of the last 60 days: no saga asks for its lock for so long.
create function remove_released_locks(before timestamptz, max_rows integer) returns integer language plpgsql security definer
  set search_path = platform, pg_temp as $$
declare
  removed integer;
begin
  perform set_config('pamm.deletes_expired', 'yes', true);
  with due as (
    select lock_owner
    from released_lock
    where released_at < least(before, clock_timestamp() - interval '60 days')
    order by released_at
    limit max_rows
    for update skip locked
  )
  delete from released_lock using due where released_lock.lock_owner = due.lock_owner;
  get diagnostics removed = row_count;
  perform set_config('pamm.deletes_expired', '', true);
  return removed;
end
$$;

-- A transfer order: moves money once, under a key of the caller.
create table transfer (
  id              bigint generated always as identity primary key,
  key             text not null unique check (key <> ''),
  -- Of the account lock that the caller has; empty without one.
  lock_owner      text not null,
  -- The account lock is released in the commit that records the transfer as applied.
  releases_lock   boolean not null,
  -- As requested, without a reversal.
  leg_count       smallint not null check (leg_count between 1 and 2),
  -- The caller does not wait for its end.
  is_enqueued     boolean not null,
  -- The first permit is granted before this instant or never.
  send_before     timestamptz,
  -- Of the permits, in which the amount was calculated: none is granted in another one. Null when it does not depend on the books.
  generation      bigint,
  comment         text not null,
  request_id      text not null,
  created_at      timestamptz not null default clock_timestamp()
);

-- Imported fees that are no payment yet.
create index transfer_imported_fee on transfer (id) where starts_with(key, 'imported:fee:');

-- Raised at every start to a floor that grows with the clock, see domain/leg-number.ts.
create sequence leg_number maxvalue 1125899906842623;

-- The database in which the sequence was raised last.
create table leg_numbering (
  is_only  boolean primary key default true check (is_only),
  database text not null
);

-- In another database the sequence may be behind numbers that were used already: there it has no next number until it is raised.
create function next_leg_number(here text) returns bigint language plpgsql as $$
begin
  if (select database from leg_numbering) is distinct from here then
    raise exception 'the leg numbers are not raised in this database' using errcode = 'object_not_in_prerequisite_state';
  end if;
  return nextval('leg_number');
end
$$;

-- A leg of a transfer: one balance operation as requested, or the reversal of the first leg.
create table leg (
  number        bigint primary key check (number > 0),
  transfer_id   bigint not null references transfer,
  -- 1 and 2 as requested, 3 = reversal of 1.
  ordinal       smallint not null check (ordinal between 1 and 3),
  login         text not null references account,
  kind          text not null check (kind in
                  ('deposit', 'withdrawal', 'fee_debit', 'fee_credit', 'result', 'mirror', 'exit', 'reversal')),
  requested_minor bigint not null check (requested_minor <> 0),
  -- The amount that is sent: less than requested_minor when a floor cut it.
  amount_minor  bigint not null,
  -- It counts for leg_under_way.
  is_exclusive  boolean not null,
  -- False while an earlier leg has to be applied first.
  is_ready      boolean not null,
  state         text not null check (state in ('INTENT', 'SENDING', 'UNKNOWN', 'APPLIED', 'REFUSED', 'REVIEW')),
  -- Only in REVIEW: the state before the manual review.
  came_from     text check (came_from in ('INTENT', 'SENDING', 'UNKNOWN', 'APPLIED', 'REFUSED')),
  refusal       text,
  -- The platform's return code behind a refusal.
  platform_code integer,
  -- Why it is in manual review.
  review        text,
  -- Number of the last attempt; 0 before the first permit.
  attempt       smallint not null default 0 check (attempt between 0 and 31),
  -- Attempts that were proven absent.
  absences      smallint not null default 0 check (absences between 0 and attempt),
  -- INTENT: no permit before this; UNKNOWN: the next scan.
  next_scan_at  timestamptz not null default clock_timestamp(),
  -- The deal that it has made: tickets are unique for each trade server.
  server        text,
  deal_id       bigint check (deal_id > 0),
  applied_at    timestamptz,
  created_at    timestamptz not null default clock_timestamp(),
  changed_at    timestamptz not null default clock_timestamp(),
  unique (transfer_id, ordinal),
  constraint leg_deal unique (server, deal_id),
  check ((state = 'REVIEW') = (came_from is not null)),
  check ((coalesce(came_from, state) = 'REFUSED') = (refusal is not null)),
  check (state <> 'REVIEW' or review is not null),
  check ((coalesce(came_from, state) = 'APPLIED') = (deal_id is not null)),
  check ((deal_id is null) = (server is null) and (deal_id is null) = (applied_at is null)),
  check (amount_minor <> 0 or state = 'REFUSED'),
  check (abs(amount_minor) <= abs(requested_minor) and amount_minor::numeric * requested_minor >= 0)
) with (fillfactor = 70);

-- At most one leg of a login may be in progress; one in manual review that may have been applied counts.
create unique index leg_under_way on leg (login)
  where is_exclusive and (state in ('SENDING', 'UNKNOWN') or came_from in ('SENDING', 'UNKNOWN'));
create index leg_in_queue on leg (login, number) where state = 'INTENT' and is_ready;
create index leg_to_scan on leg (next_scan_at) where state in ('INTENT', 'SENDING', 'UNKNOWN');
create index leg_open on leg (login) where state in ('SENDING', 'UNKNOWN', 'REVIEW');

-- Whether permits are granted; one row.
create table permit_gate (
  is_only    boolean primary key default true check (is_only),
  -- The database in which the platform's history was read since before any commit that it may lack: deals of ours that it does not
  -- know were found. Permits wait in another one, and where it was never read.
  database   text,
  -- Set while operators have to decide because of such deals.
  stopped_at timestamptz,
  -- Raised with each deal of ours that the database does not know, and when its history was read in another database: the books
  -- may differ from those of an earlier generation.
  generation bigint not null default 1
);
insert into permit_gate default values;

-- A leg with the members of its transfer.
create view recorded_leg as
  select leg.number, transfer_id, ordinal, login, kind, requested_minor, amount_minor, is_ready, state, came_from, refusal,
         platform_code, review, attempt, absences, server, deal_id, applied_at, leg.created_at, changed_at,
         key, lock_owner, leg_count, comment, is_enqueued, releases_lock, request_id,
         coalesce(send_before <= clock_timestamp(), false) as is_late, next_scan_at > clock_timestamp() as is_early,
         coalesce(generation <> (select permit_gate.generation from permit_gate), false) as is_outdated
  from leg
  join transfer on transfer.id = transfer_id;

-- A process of this service. It records a heartbeat every second; an attempt names the process that may send it.
create table sender (
  epoch      bigint generated always as identity primary key,
  -- The database in which the process is registered. It registers again, with all its numbers, before it works with another one.
  database   text not null default database_identity(),
  started_at timestamptz not null default clock_timestamp(),
  heartbeat_at timestamptz not null default clock_timestamp(),
  unique (epoch, database)
);

-- Services that have recorded what the platform executed in the lost time, as far as it was imported until a generation of the gate.
create table recovery_step (
  service    text not null check (service <> ''),
  generation bigint not null,
  done_at    timestamptz not null default clock_timestamp(),
  primary key (service, generation)
);
select append_only('recovery_step');

-- The permit to write a command once.
create table attempt (
  leg_number        bigint not null references leg,
  number            smallint not null check (number between 1 and 31),
  -- Begins the comment of the command, by which the deal is found again.
  reference         text not null unique,
  -- VOID: not one byte was written. ABSENT: the history proves that there is no deal.
  state             text not null check (state in ('SENDING', 'UNKNOWN', 'APPLIED', 'REFUSED', 'ABSENT', 'VOID')),
  -- The process that may send it.
  sender_epoch      bigint not null,
  -- No permit is granted by a process that is registered in another database, and none while the gate is closed.
  database          text constraint attempt_permitted check (database is not null),
  granted_at        timestamptz not null default clock_timestamp(),
  permit_expires_at timestamptz not null,
  session           text not null,
  -- Set when the sending process confirmed that no byte of this command can still be sent.
  fenced_at         timestamptz,
  -- The platform's return code or HTTP status, and why an answer says nothing certain.
  answer_code       integer,
  answer            text,
  primary key (leg_number, number),
  constraint attempt_sender foreign key (sender_epoch, database) references sender (epoch, database)
);

create index attempt_open on attempt (sender_epoch) where state in ('SENDING', 'UNKNOWN');

-- A complete read of the history in search of the deal of an attempt, with its result.
create table scan (
  leg_number       bigint not null,
  attempt          smallint not null,
  started_at       timestamptz not null,
  verdict          text not null check (verdict in ('clean', 'candidates')),
  -- The deals that it might have made.
  tickets          bigint[] not null,
  primary key (leg_number, attempt, started_at),
  foreign key (leg_number, attempt) references attempt (leg_number, number) on delete cascade
);
select append_only('scan');

-- Scans are removed with their attempt, once the leg has ended, by the foreign key. Those of the last 60 days stay: an absence is proven
-- by scans of some minutes, and its evidence is shown to operators for weeks.
create function refuse_scan_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and old.started_at < clock_timestamp() - interval '60 days' then return old; end if;
  raise exception 'scan is append-only';
end
$$;
create or replace trigger append_only before update or delete on scan for each row execute function refuse_scan_change();

-- The log of every login: each confirmed change of its balance, numbered without gaps.
create table log_entry (
  id               bigint generated always as identity primary key,
  login            text not null references account deferrable initially deferred,
  number           bigint not null check (number >= 0),
  kind             text not null check (kind in ('opening', 'deposit', 'withdrawal', 'fee_debit', 'fee_credit', 'result',
                     'mirror', 'exit', 'reversal', 'external', 'trade', 'amendment', 'correction')),
  amount_minor     bigint not null,
  logged_at        timestamptz not null default clock_timestamp(),
  -- The leg that has made the deal; without one it was made by a trader, or by another party.
  leg_number       bigint references leg,
  transfer_id      bigint,
  key              text not null default '',
  server           text,
  deal_id          bigint check (deal_id > 0),
  deal_at          timestamptz not null,
  -- The server's wall clock in milliseconds, as the platform shows it; null when the deal is known by an answer only.
  server_msc       bigint,
  -- Of a deal of a trader, as the platform shows it.
  action           smallint,
  entry            smallint,
  position_id      bigint,
  symbol           text,
  volume           bigint,
  volume_closed    bigint,
  profit_minor     bigint,
  swap_minor       bigint,
  commission_minor bigint,
  fee_minor        bigint,
  -- Dealers can edit the platform's history. An amendment is an entry of 0.00 that names the changed deal, with what the platform
  -- showed of it: another state of the deal is another amendment. unmatched_deal: a deal with a reference of this service that no leg
  -- has.
  amendment        text check (amendment in ('deal_gone', 'deal_changed', 'deal_cancelled', 'unmatched_deal')),
  shown_as         text,
  -- Of an external entry: type and comment of the deal, as the platform showed them.
  label_action     smallint,
  label_comment    text,
  -- The review by which operators have decided a correction: the difference between the account, some of whose deals were amended, and
  -- its log.
  review_id        bigint,
  unique (login, number),
  check ((kind = 'opening') = (number = 0)),
  constraint log_entry_has_deal check
    ((kind in ('opening', 'correction')) = (deal_id is null) and (deal_id is null) = (server is null)),
  constraint log_entry_not_ours check
    ((kind in ('opening', 'external', 'trade', 'amendment', 'correction')) = (leg_number is null)),
  check ((leg_number is null) = (transfer_id is null) and (leg_number is null) = (key = '')),
  constraint log_entry_has_trade check ((kind = 'trade') = (action is not null)),
  check (kind <> 'trade' or (entry is not null and position_id is not null and symbol is not null and volume is not null
         and volume_closed is not null and amount_minor = profit_minor + swap_minor + commission_minor + fee_minor)),
  constraint log_entry_has_label check
    ((label_action is null) = (label_comment is null) and (label_action is null or kind = 'external')),
  constraint log_entry_amendment check
    ((kind = 'amendment') = (amendment is not null) and (kind <> 'amendment' or amount_minor = 0)
     and (amendment is not null and amendment <> 'unmatched_deal') = (shown_as is not null)),
  constraint log_entry_correction check ((kind = 'correction') = (review_id is not null))
);
select append_only('log_entry');

-- A deal is booked once; later entries about it are amendments.
create unique index log_entry_deal on log_entry (server, deal_id) where kind <> 'amendment';
create index log_entry_amended on log_entry (server, deal_id) where kind = 'amendment';
-- A decision is booked once.
create unique index log_entry_corrected_once on log_entry (review_id) where kind = 'correction';
-- For what was amended in a log since its last correction.
create index log_entry_uncorrected on log_entry (login, number) where kind in ('amendment', 'correction');
-- For the deals that a period of the history should show. Not only for entries with a deal: the condition does not follow from
-- that of a search for a deal, and while statistics say that hardly any entry has one, such a search would read this index as a
-- whole.
create index log_entry_of_period on log_entry (deal_at);

-- The balance of a log at about every 256th of its entries, so that the balance at any log position is the sum of few entries. Written
-- with the entries.
create table log_checkpoint (
  login         text not null references account,
  number        bigint not null check (number > 0),
  -- Sum of the entries up to and with this one.
  balance_minor bigint not null,
  primary key (login, number)
);
select append_only('log_checkpoint');

-- Applied legs whose deal is in no log yet: the log of a Master is in the order of the platform's history, so its entry waits for
-- a read that shows the deal.
create table unlogged_leg (
  login      text not null,
  leg_number bigint not null references leg,
  primary key (login, leg_number)
);

-- The deals that the platform should show: those of the logs, and those of legs that are in no log yet. Deals that were
-- reported as gone are left out, until they are shown again.
create view recorded_deal as
  select recorded.login, recorded.server, recorded.deal_id, recorded.deal_at, recorded.server_msc
  from (
    select login, server, deal_id, deal_at, server_msc
    from log_entry
    where deal_id is not null and kind <> 'amendment'
    union all
    select leg.login, leg.server, leg.deal_id, leg.applied_at, null
    from unlogged_leg
    -- The limit prevents a join, which without statistics would read all legs.
    cross join lateral (
      select login, server, deal_id, applied_at from leg where number = leg_number limit 1
    ) as leg
  ) as recorded
  left join lateral (
    select amendment
    from log_entry as reported
    where reported.server = recorded.server and reported.deal_id = recorded.deal_id and reported.login = recorded.login
      and reported.kind = 'amendment' and reported.shown_as is not null
    order by reported.number desc
    limit 1
  ) as last on true
  where last.amendment is distinct from 'deal_gone'
    -- Those of an account that was away may be gone with it.
    and not exists (
      select from account where account.login = recorded.login and account.returned_at > recorded.deal_at
    );

-- Open positions that result from the log: those of the opening and all trades since.
create table open_position (
  login       text not null references account deferrable initially deferred,
  position_id bigint not null,
  symbol      text not null,
  volume      bigint not null,
  primary key (login, position_id)
);

-- How far the history of all managed accounts has been read.
create table reader_cursor (
  is_only   boolean primary key default true check (is_only),
  read_to   timestamptz not null,
  -- Up to here deals were read again when they were a day old; null before that was done.
  reread_to timestamptz
);

-- Deals that were in the history when an account was adopted and are in the period that the reader reads again.
create table adopted_deal (
  server  text not null,
  deal_id bigint not null check (deal_id > 0),
  login   text not null references account,
  primary key (server, deal_id)
);
select append_only('adopted_deal');

-- Deposits and withdrawals that the platform has executed and whose records this database has lost, because it was restored to an
-- older time. Their callers may repeat them.
create table lost_movement (
  server       text not null,
  deal_id      bigint not null check (deal_id > 0),
  login        text not null references account,
  amount_minor bigint not null check (amount_minor <> 0),
  comment      text not null,
  -- Under which it is listed since it was imported. Null when it did not fit its reference.
  operation_id text unique,
  found_at     timestamptz not null default clock_timestamp(),
  primary key (server, deal_id)
);
create index lost_movement_of_login on lost_movement (login, found_at);
-- While permits are stopped, the movements that were found since are counted; those of earlier restores are kept.
create index lost_movement_by_time on lost_movement (found_at);

-- Findings for manual review, with their evidence.
create table finding (
  id               bigint generated always as identity primary key,
  login            text not null,
  leg_number       bigint references leg,
  reason           text not null,
  server           text,
  deal_id          bigint,
  evidence         jsonb not null,
  opened_at        timestamptz not null default clock_timestamp()
);
select append_only('finding');
-- A finding is recorded once, however often it is found.
create unique index finding_once on finding (login, reason, coalesce(leg_number, 0), coalesce(deal_id, 0));

-- Tables that services share.
\ir ../../kernel/postgres/lease.sql
\ir ../../kernel/feed/feed.sql
\ir ../../kernel/retention/retention.sql
\ir ../../kernel/states/state-changes.sql
\ir ../../kernel/reconcile/tables.sql
\ir ../../kernel/reconcile/handled-break.sql
\ir ../../kernel/review/review.sql

create function note_account() returns trigger language plpgsql set search_path from current as $$
begin
  insert into state_change (kind, state, subject, login)
  values ('account', case when new.archived_at is null then 'returned' else 'archived' end, new.login, new.login);
  return null;
end
$$;

create trigger note_update after update on account for each row
  when ((old.archived_at is null) is distinct from (new.archived_at is null)) execute function note_account();

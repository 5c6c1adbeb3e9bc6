-- The platform's history can be edited by its people. What they changed is told in the log of the login, as an entry that
-- moves nothing and names the deal.
alter table log_entry
  add column irregularity text check (irregularity in ('deal_gone', 'deal_changed', 'deal_cancelled')),
  drop constraint log_entry_kind_check,
  add constraint log_entry_kind_check check (kind in
    ('opening', 'deposit', 'withdrawal', 'fee_debit', 'fee_credit', 'result', 'mirror', 'exit', 'reversal', 'foreign',
     'trade', 'irregularity')),
  -- The one that said which kinds are not ours.
  drop constraint log_entry_check2,
  add constraint log_entry_not_ours check
    ((kind in ('opening', 'foreign', 'trade', 'irregularity')) = (operation_number is null)),
  add constraint log_entry_irregularity check
    ((kind = 'irregularity') = (irregularity is not null) and (irregularity is null or amount_minor = 0)),
  drop constraint log_entry_deal;

-- A deal is booked once, whatever is told about it later.
create unique index log_entry_deal on log_entry (server, deal_id) where kind <> 'irregularity';
-- The same thing about the same deal is told once.
create unique index log_entry_told_once on log_entry (login, server, deal_id, irregularity) where kind = 'irregularity';
-- For what a piece of the history should show.
create index log_entry_of_time on log_entry (login, deal_at) where deal_id is not null;

-- When facts were read last: an operation that was passed over by one reading goes before the next.
alter table account add column read_at timestamptz;

-- What people say about a changed past is an entry, too: by how much a deal is more or less than it was told, so that the log
-- says again what the account shows. It names the deal in a column of its own: a deal is still booked once.
alter table log_entry
  add column corrected_deal_id bigint check (corrected_deal_id > 0),
  -- How often the deal of an irregularity or a correction was corrected by then; a correction counts itself.
  add column deal_state smallint not null default 0 check (deal_state >= 0),
  drop constraint log_entry_kind_check,
  add constraint log_entry_kind_check check (kind in
    ('opening', 'deposit', 'withdrawal', 'fee_debit', 'fee_credit', 'result', 'mirror', 'exit', 'reversal', 'foreign',
     'trade', 'irregularity', 'correction')),
  drop constraint log_entry_not_ours,
  add constraint log_entry_not_ours check
    ((kind in ('opening', 'foreign', 'trade', 'irregularity', 'correction')) = (operation_number is null)),
  -- The one that said which entries have a deal.
  drop constraint log_entry_check1,
  add constraint log_entry_has_deal check
    ((kind in ('opening', 'correction')) = (deal_id is null) and (kind = 'opening') = (server is null)),
  -- The one that said which entries have a trade: a correction has the trade as the platform shows it now, if it shows one.
  drop constraint log_entry_check4,
  add constraint log_entry_has_trade check
    ((kind <> 'trade' or action is not null) and (action is null or kind in ('trade', 'correction'))),
  drop constraint log_entry_irregularity,
  add constraint log_entry_irregularity check
    ((kind in ('irregularity', 'correction')) = (irregularity is not null) and (kind <> 'irregularity' or amount_minor = 0)),
  add constraint log_entry_correction check
    ((kind = 'correction') = (corrected_deal_id is not null) and (kind <> 'correction' or deal_state > 0)
     and (kind in ('irregularity', 'correction') or deal_state = 0));

-- The same thing about the same state of a deal is told once, and each state is corrected once.
drop index log_entry_told_once;
create unique index log_entry_told_once on log_entry (login, server, deal_id, irregularity, deal_state)
  where kind = 'irregularity';
create unique index log_entry_corrected_once on log_entry (server, corrected_deal_id, login, deal_state)
  where kind = 'correction';

-- A finding about a deal that was corrected is another one than that of before.
alter table review add column deal_state smallint not null default 0;
drop index review_finding;
create unique index review_finding on review (login, reason, coalesce(operation_number, 0), coalesce(deal_id, 0), deal_state);

-- What waits for people already may be decided like this, too.
update review_case set actions = array_prepend('correct_log', actions)
where state in ('OPEN', 'PROPOSED') and deal_id <> 0
  and reason in ('deal_gone', 'deal_changed', 'deal_cancelled', 'applied_deal_gone', 'applied_deal_differs');

-- outside a transaction
-- Few end so, and one that is executed is never in it.
create index concurrently cashflow_newest_not_executed on cashflow (operation_id collate "C") where state = 'REFUSED';

-- outside a transaction
-- Withdrawals may be rare among deposits. Deposits are not rare among withdrawals, so they need no index, which each would have to maintain.
create index concurrently cashflow_newest_withdrawal on cashflow (operation_id collate "C") where action = 'withdraw';

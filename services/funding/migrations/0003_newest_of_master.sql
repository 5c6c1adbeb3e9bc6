-- outside a transaction
create index concurrently cashflow_newest_of_master on cashflow (master_login, operation_id collate "C") where master_login is not null;

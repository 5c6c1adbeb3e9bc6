-- outside a transaction
create index concurrently cashflow_newest_of_external_id on cashflow (external_id, operation_id collate "C") where external_id is not null;

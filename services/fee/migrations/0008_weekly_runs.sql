-- outside a transaction
create index concurrently fee_run_weekly on fee_run (id desc) where kind = 'WEEKLY';

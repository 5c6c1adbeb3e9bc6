-- outside a transaction
-- Open operations of the queue: those that wait are looked at together, and listed by their ids. One that ends leaves the index.
create index concurrently cashflow_queued on cashflow (operation_id collate "C") where queue_state in ('WAITING', 'RUNNING') and finished_at is null;

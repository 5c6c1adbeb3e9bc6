-- outside a transaction
create index concurrently master_by_creation on master (created_at, id);

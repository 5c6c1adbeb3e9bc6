-- outside a transaction
create index concurrently master_by_name on master (lower(name) collate "C", id);

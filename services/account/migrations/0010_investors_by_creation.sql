-- outside a transaction
create index concurrently investor_by_creation on investor (created_at, id);

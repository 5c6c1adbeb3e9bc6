-- outside a transaction
create index concurrently investor_by_name on investor (lower(coalesce(alias, name)) collate "C", id);

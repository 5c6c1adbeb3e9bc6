-- outside a transaction
create index concurrently flow_by_source on flow (source_key) where source_key is not null;

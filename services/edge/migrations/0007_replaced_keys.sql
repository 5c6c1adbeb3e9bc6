-- outside a transaction
create index concurrently api_key_replacing on api_key (replaces) where replaces is not null;

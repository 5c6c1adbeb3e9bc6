-- outside a transaction
create index concurrently api_key_by_age on api_key (created_at desc, id desc);

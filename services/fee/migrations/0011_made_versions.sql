-- outside a transaction
create index concurrently fee_version_made on fee_version (investor_login, id) where restates is null and cancels is null and (rate_from is not null or enabled_from is not null);

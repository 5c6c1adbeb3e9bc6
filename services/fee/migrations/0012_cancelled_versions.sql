-- outside a transaction
create unique index concurrently fee_version_cancelled on fee_version (cancels) where cancels is not null;

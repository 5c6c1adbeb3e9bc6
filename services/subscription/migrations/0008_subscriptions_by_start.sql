-- outside a transaction
create index concurrently subscription_by_start on subscription (status, started_at, id) where started_at is not null;

-- outside a transaction
create index concurrently subscription_of_master_by_start on subscription (master_login, status, started_at, id) where started_at is not null;

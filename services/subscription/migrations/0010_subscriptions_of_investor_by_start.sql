-- outside a transaction
create index concurrently subscription_of_investor_by_start on subscription (investor_login, status, started_at, id) where started_at is not null;

-- outside a transaction
-- The flows of an Investor in a time, for the explanation of a fee.
create index concurrently flow_by_subscription on flow (subscription_id, created_at);

-- outside a transaction
create index concurrently provisioning_active_by_email on provisioning (lower(email)) where state = 'ACTIVE';

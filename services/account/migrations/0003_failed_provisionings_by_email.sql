-- outside a transaction
-- A refused request has no login: it is found by the address of the person.
create index concurrently provisioning_failed_by_email on provisioning (email) where state = 'FAILED';

-- The client's own id of the operation, and its data.
alter table cashflow add column external_id text, add column metadata jsonb;

-- outside a transaction
-- Those that are known to be executed are not in it.
create index concurrently unassignment_newest_unsettled on unassignment (command_id collate "C") where ended_at is null or refusal is not null;

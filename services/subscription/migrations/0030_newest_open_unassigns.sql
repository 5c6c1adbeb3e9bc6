-- outside a transaction
create index concurrently unassignment_newest_open on unassignment (command_id collate "C") where ended_at is null;

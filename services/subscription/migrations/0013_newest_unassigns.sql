-- outside a transaction
create index concurrently unassignment_newest on unassignment (command_id collate "C");

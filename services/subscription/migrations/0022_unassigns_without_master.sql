-- outside a transaction
create index concurrently unassignment_without_master on unassignment (command_id collate "C") where master_login is null;

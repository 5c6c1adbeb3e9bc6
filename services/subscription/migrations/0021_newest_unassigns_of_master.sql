-- outside a transaction
create index concurrently unassignment_newest_of_master on unassignment (master_login, command_id collate "C");

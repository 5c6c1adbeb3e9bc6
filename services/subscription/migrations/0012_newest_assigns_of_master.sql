-- outside a transaction
create index concurrently subscription_newest_of_master on subscription (master_login, command_id collate "C") where command_id <> '';

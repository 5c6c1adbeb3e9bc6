-- outside a transaction
create index concurrently subscription_newest on subscription (command_id collate "C") where command_id <> '';

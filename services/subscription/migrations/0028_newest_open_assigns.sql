-- outside a transaction
create index concurrently subscription_newest_open on subscription (command_id collate "C") where status = 'ASSIGNING' and command_id <> '';

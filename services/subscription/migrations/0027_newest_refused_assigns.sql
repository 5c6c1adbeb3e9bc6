-- outside a transaction
create index concurrently subscription_newest_refused on subscription (command_id collate "C") where status = 'ABORTED' and command_id <> '';

-- Number of the last entry of the log that has changed quarantined_minor and is no trade of the account; -1 before the first one.
alter table investor_account add column moved_number bigint not null default -1;

-- When a command that may have created the account was sent under the login; null when each one was refused or not sent.
alter table account_creation add column sent_at timestamptz;

-- The balance of a log at about every 256th of its entries, so that the balance at any log position is the sum of few entries. Written
-- with the entries. Logs of before have none up to their end of then: there the sum is over all entries before.
create table log_checkpoint (
  login         text not null references account,
  number        bigint not null check (number > 0),
  -- Sum of the entries up to and with this one.
  balance_minor bigint not null,
  primary key (login, number)
);
select append_only('log_checkpoint');

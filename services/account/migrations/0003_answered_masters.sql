-- A Master as a command was answered about it that registered or changed it: given again, the command is answered the same,
-- whatever others have changed since.
create table answered_master (
  command_id        text primary key references answered_command,
  name              text not null,
  strategy_name     text,
  strategy          text,
  min_deposit_minor bigint not null,
  investors_count   bigint not null
);

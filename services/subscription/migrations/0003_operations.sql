-- Every unassign that was ever asked for and found its subscription, by the id of its command; its tries are rows of exit.
create table unassignment (
  command_id      text primary key check (command_id <> ''),
  subscription_id bigint not null references subscription,
  asked_at        timestamptz not null,
  -- Its caller waits no longer.
  deadline_at     timestamptz not null,
  -- Set with ended_at when its caller was told no.
  refusal         jsonb,
  ended_at        timestamptz,
  check (refusal is null or ended_at is not null)
);

create index unassignment_by_subscription on unassignment (subscription_id);
-- An assign is looked up by its command also when it was refused.
create index subscription_by_command on subscription (command_id);

-- How the service reads assigns and unassigns. OPEN: it may still happen. BETWEEN_TRIES: this try was refused, and while
-- its caller waits another one may follow. An assign that was refused and asked for again has several rows: the newest one
-- counts. An exit that is of another command by now was refused to this one before.
create view operation_row as
  select subscription.command_id as "commandId", 'assign' as action, subscription.id as "subscriptionId",
         investor_login as "investorLogin", master_login as "masterLogin",
         case when status in ('ACTIVE', 'PAUSED', 'CANCELLED') then 'EXECUTED'
              when status = 'ABORTED' then 'NOT_EXECUTED'
              else 'OPEN' end as phase,
         refusal ->> 'code' as "refusalCode", deadline_at as "deadlineAt", created_at as "createdAt",
         started_at as "finishedAt"
  from subscription
  join assignment on assignment.subscription_id = subscription.id
  where command_id <> ''
    and not exists (select from subscription newer
                    where newer.command_id = subscription.command_id and newer.id > subscription.id)
  union all
  select unassignment.command_id, 'unassign', subscription.id, investor_login, master_login,
         case when exit.command_id = unassignment.command_id and exit.state = 'LEFT' then 'EXECUTED'
              when exit.command_id = unassignment.command_id and exit.state <> 'REFUSED' then 'OPEN'
              when unassignment.refusal is not null or exit.command_id <> unassignment.command_id then 'NOT_EXECUTED'
              else 'BETWEEN_TRIES' end,
         case when exit.command_id <> unassignment.command_id then unassignment.refusal ->> 'code'
              else coalesce(unassignment.refusal, exit.refusal) ->> 'code' end,
         unassignment.deadline_at, asked_at, unassignment.ended_at
  from unassignment
  join subscription on subscription.id = unassignment.subscription_id
  join exit on exit.subscription_id = unassignment.subscription_id;

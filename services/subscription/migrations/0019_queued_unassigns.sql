-- An unassign that may wait until its Master is flat, when its caller has asked for that. WANTED: its first try runs, as of any other. WAITING: nothing runs, and
-- one change of this state decides what becomes of it: a try, a caller that cancels it, or its expiry. RUNNING: a try has begun,
-- whose row is the exit. A version of the service that does not know the table tries none of them.
create table queued_unassign (
  command_id      text primary key check (command_id <> ''),
  subscription_id bigint not null,
  state           text not null check (state in ('WANTED', 'WAITING', 'RUNNING', 'ENDED')),
  -- Its first try was refused, so it has waited.
  has_waited      boolean not null default false,
  -- It begins by then, or not at all.
  expires_at      timestamptz not null,
  -- Since when the Master has been flat without a break; null while it is not.
  ready_at        timestamptz,
  -- WAITING: no try before. WANTED and RUNNING: the process of the try is gone by then.
  next_try_at     timestamptz not null,
  tries           integer not null default 0 check (tries >= 0),
  -- Why the last try was refused.
  reason          text,
  -- Set with ended_at unless it was executed.
  refusal         jsonb,
  ended_at        timestamptz,
  check ((state = 'ENDED') = (ended_at is not null)),
  check (refusal is null or ended_at is not null)
);

create unique index queued_unassign_open on queued_unassign (subscription_id) where state <> 'ENDED';
create index queued_unassign_due on queued_unassign (next_try_at) where state <> 'ENDED';

-- As before, and of an unassign of the queue its own row decides: it is open until that has ended, without a deadline.
create or replace view operation_row as
  select subscription.command_id as "commandId", 'assign' as action, subscription.id as "subscriptionId",
         investor_login as "investorLogin", master_login as "masterLogin",
         case when status in ('ACTIVE', 'PAUSED', 'CANCELLED') then 'EXECUTED'
              when status = 'ABORTED' then 'NOT_EXECUTED'
              else 'OPEN' end as phase,
         refusal ->> 'code' as "refusalCode", deadline_at as "deadlineAt", created_at as "createdAt",
         started_at as "finishedAt", null::text as "queueState", null::timestamptz as "queueUntil"
  from subscription
  join assignment on assignment.subscription_id = subscription.id
  where command_id <> ''
    and not exists (select from subscription newer
                    where newer.command_id = subscription.command_id and newer.id > subscription.id)
  union all
  select unassignment.command_id, 'unassign', subscription.id, investor_login, master_login,
         case when exit.command_id = unassignment.command_id and exit.state = 'LEFT' then 'EXECUTED'
              when queued.state <> 'ENDED' then 'OPEN'
              when queued.refusal is not null then 'NOT_EXECUTED'
              when queued.state = 'ENDED' then 'EXECUTED'
              when exit.command_id = unassignment.command_id and exit.state <> 'REFUSED' then 'OPEN'
              when unassignment.refusal is not null or exit.command_id <> unassignment.command_id then 'NOT_EXECUTED'
              else 'BETWEEN_TRIES' end,
         case when queued.command_id is not null then queued.refusal ->> 'code'
              when exit.command_id <> unassignment.command_id then unassignment.refusal ->> 'code'
              else coalesce(unassignment.refusal, exit.refusal) ->> 'code' end,
         case when queued.state <> 'ENDED' then 'infinity' else unassignment.deadline_at end, requested_at,
         case when queued.command_id is not null then queued.ended_at else unassignment.ended_at end,
         case when queued.has_waited then queued.state end, case when queued.has_waited then queued.expires_at end
  from unassignment
  join subscription on subscription.id = unassignment.subscription_id
  left join exit on exit.subscription_id = unassignment.subscription_id
  left join queued_unassign as queued on queued.command_id = unassignment.command_id;

create function note_queued_unassign() returns trigger language plpgsql set search_path from current as $$
begin
  insert into state_change (kind, state, subject, login, master_login, operation_id, reason)
  select 'unassign',
         case when new.state <> 'ENDED' then 'pending' when new.refusal is null then 'executed' else 'not_executed' end,
         new.command_id, investor_login, master_login, new.command_id, coalesce(new.refusal ->> 'code', '')
  from subscription where subscription.id = new.subscription_id;
  return null;
end
$$;

create or replace trigger note_insert after insert on queued_unassign for each row execute function note_queued_unassign();
create or replace trigger note_update after update on queued_unassign for each row
  when (new.state = 'ENDED' and old.state <> 'ENDED') execute function note_queued_unassign();

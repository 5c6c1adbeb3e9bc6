-- Cases for manual review, and the votes on them.
create table review_case (
  id               bigint generated always as identity primary key,
  -- For example stop:1001. At most one case of a subject is open.
  subject          text not null check (subject <> ''),
  reason           text not null check (reason <> ''),
  login            text not null,
  amount_minor     bigint,
  operation_id     text not null default '',
  reference        text not null default '',
  deal_id          bigint not null default 0,
  -- Action and comment of the deals that it is about, when all are of one kind, and their day (UTC): otherwise the day on which it was
  -- opened. Cases of one reason that have these in common are of one group.
  cause_action     integer,
  cause_comment    text,
  cause_day        text not null default '',
  cause_group      text not null default '',
  evidence         jsonb not null,
  -- The allowed decisions.
  actions          text[] not null,
  -- OBSOLETE: the subject no longer exists, so no decision was needed.
  state            text not null check (state in ('OPEN', 'PROPOSED', 'DECIDED', 'OBSOLETE')),
  opened_at        timestamptz not null,
  -- The proposal, or the decision that it became.
  action           text,
  chosen_deal_id   bigint,
  note             text,
  proposed_by      text,
  proposed_at      timestamptz,
  confirmed_note   text,
  confirmed_by     text,
  confirmed_at     timestamptz,
  -- When the decision was carried out completely; until then a job works on it under keys that begin with review:<id>:.
  done_at          timestamptz,
  next_try_at      timestamptz,
  tries            integer not null default 0,
  last_error       text,
  check ((cause_action is null) = (cause_comment is null)),
  check (num_nulls(action, chosen_deal_id, note, proposed_by, proposed_at) in (0, 5)),
  check (num_nulls(confirmed_note, confirmed_by, confirmed_at) in (0, 3)),
  check ((state in ('PROPOSED', 'DECIDED')) = (action is not null)),
  check ((state = 'DECIDED') = (confirmed_by is not null)),
  check (confirmed_by <> proposed_by),
  check (done_at is null or state = 'DECIDED'),
  check ((state = 'DECIDED' and done_at is null) = (next_try_at is not null))
);

create unique index review_case_one_open on review_case (subject) where state in ('OPEN', 'PROPOSED');
create index review_case_undecided on review_case (id) where state in ('OPEN', 'PROPOSED');
create index review_case_of_group on review_case (cause_group, id);
create index review_case_unfinished on review_case (next_try_at) where next_try_at is not null;
-- By the legs and deals of an operation, as services/kernel/review/list-reviews.ts writes them.
create index review_case_names on review_case using gin ((array[operation_id, 'deal:' || deal_id::text]));
-- Reviews of all times may be decided, and few of them are about one account.
create index review_case_of_login on review_case (login, id);

-- The columns as the kernel reads them.
create view review_case_row as
  select id, subject, reason, login, amount_minor as amount, operation_id as "operationId", reference,
         deal_id as "dealId", cause_action as "causeAction", cause_comment as "causeComment", cause_day as day,
         cause_group as "group", evidence::text as evidence, actions, opened_at as "openedAt", state, action,
         chosen_deal_id as "chosenDealId", note, proposed_by as "proposedBy", proposed_at as "proposedAt",
         confirmed_note as "confirmedNote", confirmed_by as "confirmedBy", confirmed_at as "confirmedAt",
         next_try_at as "nextTryAt", tries
  from review_case;

-- Each state of a case is one that callers see.
create function note_review() returns trigger language plpgsql set search_path from current as $$
begin
  insert into state_change (kind, state, subject, login, amount_minor, deal_id, reason)
  values ('review', lower(new.state), tg_table_schema || '-' || new.id, new.login, new.amount_minor, new.deal_id, new.reason);
  return null;
end
$$;

create trigger note_insert after insert on review_case for each row execute function note_review();
create trigger note_update after update on review_case for each row
  when (old.state is distinct from new.state) execute function note_review();

-- Every vote on a case. VOIDED: no vote; the service voided a proposal because its facts changed.
create table review_event (
  id          bigint generated always as identity primary key,
  case_id     bigint not null references review_case,
  event       text not null check (event in ('PROPOSED', 'WITHDRAWN', 'VOIDED', 'CONFIRMED')),
  action      text not null,
  deal_id     bigint not null,
  note        text not null,
  -- Name of the owner of the API key, and the public id of the key; empty when the service recorded the event by itself.
  actor       text not null,
  key_id      text not null,
  recorded_at timestamptz not null,
  -- The command of the vote: a repetition records nothing and gets the same response.
  command_id  text not null default '',
  check ((event = 'VOIDED') = (actor = '')),
  check ((event = 'VOIDED') = (key_id = ''))
);

create index review_event_of_case on review_event (case_id, id);
create unique index review_event_by_command on review_event (command_id) where command_id <> '';

select append_only('review_event');

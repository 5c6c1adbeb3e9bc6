-- The breaks because of which a Master was stopped. Each break stops a Master once: it stays open while operators decide,
-- and must not stop the Master again after they have resumed it.
create table handled_break (
  service      text not null check (service <> ''),
  break_id     bigint not null,
  master_login text not null,
  handled_at   timestamptz not null default clock_timestamp(),
  primary key (service, break_id, master_login)
);
select append_only('handled_break');

-- One row: the length of fee weeks and any cut-off, as the service was configured when it started last. A start with others is refused while
-- Masters close weeks.
create table fee_week (
  is_only   boolean primary key default true check (is_only),
  period_ms bigint not null check (period_ms > 0),
  anchor    timestamptz not null
);

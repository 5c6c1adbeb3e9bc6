-- The units of the whole pool, own capital included, by which a result was shared; null for entries of before.
alter table allocation_entry add column pool_units numeric;

-- The value of a unit of a pool over time, free of deposits, withdrawals and fees: a row for each day (UTC) on which the pool was valued,
-- by a result of its Master or by the marks of a strike. Days of before, and results that the previous release allocates, have none.
create table performance_day (
  master_login   text not null references master_pool,
  -- Such as 2026-01-31.
  day            text not null check (day like '____-__-__'),
  -- In 1e-18 USD, at the end of the day: 1 USD before the first result. 0 when everything was lost; then it begins with 1 USD again.
  value          numeric not null check (value >= 0),
  lowest         numeric not null check (lowest between 0 and value),
  -- Highest value so far.
  peak           numeric not null check (peak >= value),
  -- Largest fall below the peak on this day.
  drawdown_ppm   integer not null check (drawdown_ppm between 0 and 1000000),
  result_minor   bigint not null,
  -- All units and their value, 1e-8 USD, after the last valuation of the day.
  pool_value_e8  numeric not null,
  pool_units     numeric not null check (pool_units >= 0),
  deal_id        bigint not null,
  valued_at      timestamptz not null,
  primary key (master_login, day)
);

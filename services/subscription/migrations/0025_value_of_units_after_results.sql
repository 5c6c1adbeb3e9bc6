-- The performance of the Master after a result, as in performance_day: the value of a unit in 1e-18 USD, how far it is below its highest
-- value so far, and the value of all units in 1e-8 USD. Null for weeks, for results that the previous release allocates, and for results of
-- units without a value.
alter table allocation_entry
  add column unit_value numeric,
  add column drawdown_ppm integer,
  add column pool_value_e8 numeric;

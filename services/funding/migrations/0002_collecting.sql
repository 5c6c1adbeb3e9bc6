-- Between the pool's decision and the payout the pending fee is taken: a state of its own, so that it is asked for no
-- longer than needed and a crash goes on from there. What is paying already was decided when there were no fees to take.
alter table cashflow
  drop constraint cashflow_state_check,
  drop constraint cashflow_check2,
  add constraint cashflow_state_check
    check (state in ('RECORDED', 'LEAVING', 'COLLECTING', 'PAYING', 'POSTED', 'REFUSED')),
  add constraint cashflow_leaves_by_withdrawal
    check (state not in ('LEAVING', 'COLLECTING', 'PAYING') or action = 'withdraw');

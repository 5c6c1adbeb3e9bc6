import * as a from "./expect.ts";

/** The tables of section 2. */

export const MASTER: a.Members = {
  engine: a.exactly("PAMM"),
  id: a.integer,
  mt5_login: a.login,
  name: a.filled,
  strategy_name: a.anyText,
  strategy: a.anyText,
  investors_count: a.integer,
  payment_account_login: a.login,
  min_deposit: a.number,
  created_at: a.timestamp,
};

export const SINGLE_MASTER: a.Members = {
  id: a.integer,
  mt5_login: a.login,
  name: a.filled,
  strategy_name: a.anyText,
  strategy: a.anyText,
  created_at: a.timestamp,
};

export const CREATED_MASTER: a.Members = {
  ...SINGLE_MASTER,
  password: a.secret,
  investor_password: a.secret,
  payment_account_login: a.login,
};

export const SENSITIVE_MASTER: a.Members = {
  ...SINGLE_MASTER,
  mt5_password: a.orNull(a.secret),
  mt5_investor_password: a.orNull(a.secret),
  payment_account_login: a.login,
  min_deposit: a.number,
  investors_count: a.integer,
};

const INVESTOR_RECORD: a.Members = { id: a.integer, mt5_login: a.login, name: a.filled, created_at: a.timestamp };

export const INVESTOR: a.Members = { engine: a.exactly("PAMM"), ...INVESTOR_RECORD };

export const CREATED_INVESTOR: a.Members = { ...INVESTOR_RECORD, password: a.secret, investor_password: a.secret };

export const SENSITIVE_INVESTOR: a.Members = {
  ...INVESTOR_RECORD,
  mt5_password: a.orNull(a.secret),
  mt5_investor_password: a.orNull(a.secret),
};

const STATUS = a.oneOf("ACTIVE", "PAUSED", "CANCELLED");

export const ASSIGNED: a.Members = {
  id: a.integer,
  master_id: a.integer,
  investor_id: a.integer,
  status: a.exactly("ACTIVE"),
  in_pool: a.exactly(true),
  started_at: a.timestamp,
  balance_baseline_op_id: a.integer,
  ended_at: a.nothing,
  created_at: a.timestamp,
};

export const SUBSCRIPTION: a.Members = {
  id: a.integer,
  status: STATUS,
  in_pool: a.bool,
  started_at: a.timestamp,
  ended_at: a.orNull(a.timestamp),
  master_login: a.login,
  investor_login: a.login,
};

export const UNASSIGNED: a.Members = {
  subscription: a.object,
  payout_enqueued: a.exactly(true),
  mt5_transfer_id: a.integer,
  amount: a.number,
};

export const FEE_CONFIGURATION: a.Members = {
  investor_id: a.integer,
  investor_login: a.login,
  rate: a.rateText,
  enabled: a.bool,
  effective_since: a.timestamp,
  created_at: a.timestamp,
  updated_at: a.timestamp,
};

export const CREDIT: a.Members = {
  id: a.integer,
  master_payment_login: a.login,
  investor_mt5_login: a.orNull(a.login),
  kind: a.filled,
  amount: a.number,
  currency: a.exactly("USD"),
  mt5_op_id: a.integer,
  mt5_ts: a.timestamp,
  created_at: a.timestamp,
};

export const PAYMENT: a.Members = {
  id: a.integer,
  run_id: a.integer,
  run_status: a.filled,
  run_period_start: a.timestamp,
  run_period_end: a.timestamp,
  investor_id: a.integer,
  investor_mt5_login: a.login,
  amount: a.number,
  currency: a.exactly("USD"),
  status: a.exactly("EXECUTED"),
  mt5_transfer_id: a.integer,
  mt5_op_id: a.integer,
  executed_at: a.timestamp,
  cashflow_id: a.integer,
  cashflow_unique_key: a.filled,
  created_at: a.timestamp,
};

export const DEPOSITED: a.Members = {
  status: a.filled,
  action: a.exactly("deposit"),
  login: a.login,
  amount: a.number,
  currency: a.exactly("USD"),
  deal_id: a.integer,
  message: a.filled,
  first_deposit_checked: a.bool,
  min_deposit_required: a.decimalText,
};

export const WITHDRAWN: a.Members = {
  status: a.filled,
  action: a.exactly("withdraw"),
  login: a.login,
  requested_amount: a.number,
  effective_withdraw: a.number,
  currency: a.exactly("USD"),
  message: a.filled,
  check_open_positions: a.bool,
  perf_fee_pending_at_request: a.decimalText,
  balance_before: a.decimalText,
  available_after_perf_fee: a.decimalText,
  mt5_deal_id: a.integer,
};

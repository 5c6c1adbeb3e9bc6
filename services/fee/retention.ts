import type { RetentionRule } from "#kernel/retention/rule.ts";
import { BREAK_RETENTION, breakRules, EVENT_RETENTION, eventRules } from "#kernel/retention/settings.ts";

export const FEE_RETENTION = { ...EVENT_RETENTION, ...BREAK_RETENTION };

export function feeRules(
  feeds: readonly string[],
  config: { readonly PAMM_RETAIN_EVENTS: number; readonly PAMM_RETAIN_BREAKS: number },
): RetentionRule[] {
  return [...eventRules(feeds, config), ...breakRules(config)];
}

/** Tables that no rule names, and why they may be kept. */
export const KEPT: Readonly<Record<string, string>> = {
  allocation_entry: "books: the results and weeks that fees are calculated from",
  allocation_part: "books: the part of each Investor in each result",
  allocation_watermark: "one row for each Master",
  crystallisation:
    "one row for each withdrawal and exit: its key gets the same answer again, and its operation lists the fees",
  crystallisation_item: "as crystallisation",
  fee_debt_part: "one row for each fee that could not be collected whole: what a later payment of the debt is made of",
  fee_configuration: "one row for each Investor",
  fee_layer: "one row for each rate of the profit of an Investor at a Master that is still to be charged",
  fee_master: "one row for each Master",
  fee_search: "one row",
  fee_pair: "one row for each Investor and Master",
  fee_payment: "books: each fee, with its explanation",
  fee_run: "books: one row for each week of a Master, and for each withdrawal and exit with a fee",
  fee_version:
    "one row for each change of a fee and each version that was scheduled then: listings show them, and late results have their rates; decisions read the newest ones (decision 84)",
  fee_version_replaced: "as fee_version: one row for each version that is in force at no instant any more",
  former_payment_account: "one row for each change of a payment account",
  handled_break: "one row for each break that has stopped fees: it must not stop them again",
  payment_account: "one row for each payment account",
  payment_credit: "books: callers follow the list by its ids",
  reconciliation_mark: "one row for each Investor and Master",
};

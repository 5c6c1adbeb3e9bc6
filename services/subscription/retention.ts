import { durationWithin } from "#kernel/config-variables.ts";
import { type Fragment, fragment } from "#kernel/postgres/query.ts";
import type { RetentionRule } from "#kernel/retention/rule.ts";
import { BY_ID, tableRule } from "#kernel/retention/table-rule.ts";
import { BREAK_RETENTION, breakRules, EVENT_RETENTION, eventRules, FOR_EVER } from "#kernel/retention/settings.ts";

export const SUBSCRIPTION_RETENTION = {
  ...EVENT_RETENTION,
  ...BREAK_RETENTION,
  /** Longer than the age of a backup from which a database is restored. */
  PAMM_RETAIN_TRANSFERS: durationWithin("P60D", FOR_EVER, "P180D"),
};

export function subscriptionRules(
  feeds: readonly string[],
  config: {
    readonly PAMM_RETAIN_EVENTS: number;
    readonly PAMM_RETAIN_BREAKS: number;
    readonly PAMM_RETAIN_TRANSFERS: number;
  },
): RetentionRule[] {
  const closed = (name: string, table: string, rows: Fragment, alsoRemoved: readonly string[] = []): RetentionRule =>
    tableRule({
      name,
      table,
      alsoRemoved,
      rows,
      keptMs: config.PAMM_RETAIN_TRANSFERS,
      key: BY_ID,
      begunAt: fragment`item.created_at`,
      endedAt: fragment`item.closed_at`,
    });
  return [
    ...eventRules(feeds, config),
    ...breakRules(config),
    closed("postings", "posting", fragment`posting`),
    closed("mirrors", "mirror", fragment`mirror`, ["flow"]),
  ];
}

/** Tables that no rule names, and why they may be kept. */
export const KEPT: Readonly<Record<string, string>> = {
  accrual: "one row for each open position and Investor of its pool",
  allocation_entry: "books: the results of each Master",
  allocation_row: "books: the part of each Investor in each result",
  arrival: "removed when it takes part",
  assignment: "one row for each subscription: the answer to a repeated assign",
  closing: "one row for each Master that was closed",
  compensation: "one row for each decision of operators",
  exit: "one row for each subscription: the answer to a repeated unassign",
  exit_transfer: "the transfers of an exit, which its operation lists",
  fee_debit: "one row for each fee: a fee that was debited is no longer due",
  fee_week: "one row",
  handled_break: "one row for each break that has stopped a Master: it must not stop it again",
  holding: "one row for each subscription",
  investor_account: "one row for each Investor",
  leave: "one row for each withdrawal and exit: its key gets the same decision again",
  master_pool: "one row for each Master",
  master_result: "books: the trades of each Master, from which its open positions follow",
  performance_day: "one row for each Master and day",
  pool_position: "one row for each open position",
  queued_unassign: "at most one row for each unassign: the outcome of one that has waited",
  reserve: "one row for each fee: its key reserves once",
  subscription: "one row for each subscription",
  operation_label: "at most one row for each assign and unassign: what its client calls it",
  unassignment: "one row for each unassign: an operation of the ledger",
};

import { durationWithin } from "#kernel/config-variables.ts";
import { fragment } from "#kernel/postgres/query.ts";
import type { RetentionRule } from "#kernel/retention/rule.ts";
import { byTime, tableRule } from "#kernel/retention/table-rule.ts";
import { EVENT_RETENTION, eventRules, FOR_EVER } from "#kernel/retention/settings.ts";

export const ACCOUNT_RETENTION = {
  ...EVENT_RETENTION,
  /** Longer than the edge may repeat a command, also one that was never answered: 180 days after its last attempt. */
  PAMM_RETAIN_UPDATES: durationWithin("P200D", FOR_EVER, "P365D"),
};

export function accountRules(
  feeds: readonly string[],
  config: { readonly PAMM_RETAIN_EVENTS: number; readonly PAMM_RETAIN_UPDATES: number },
): RetentionRule[] {
  return [...eventRules(feeds, config), updates(config.PAMM_RETAIN_UPDATES)];
}

/** Ids of commands that changed an account: a repeated one must not overwrite a later change. */
function updates(keptMs: number): RetentionRule {
  return tableRule({
    name: "updates",
    table: "account_update",
    rows: fragment`account_update`,
    keptMs,
    ...byTime(fragment`applied_at`),
    endedAt: fragment`item.applied_at`,
  });
}

/** Tables that no rule names, and why they may be kept. */
export const KEPT: Readonly<Record<string, string>> = {
  account: "one row for each account",
  master: "one row for each Master",
  investor: "one row for each Investor",
  profile: "at most one row for each account, or request for one: the labels of its client",
  erasure: "one row for each Investor whose personal data was erased: the evidence, without that data",
  credential: "two rows for each account that was created",
  payment_account_change: "one row for each change of a payment account: which Master an earlier one belongs to",
  provisioning:
    "one row for each account that was created: a repeated command gets its accounts, and its id is the owner of their credentials",
};

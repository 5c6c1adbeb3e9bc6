import { durationWithin } from "#kernel/process/config-variables.ts";
import { fragment } from "#kernel/postgres/query.ts";
import { type RetentionRule, byTime, tableRule } from "#kernel/retention/table-rule.ts";
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

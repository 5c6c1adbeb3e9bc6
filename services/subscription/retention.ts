import { durationWithin } from "#kernel/config-variables.ts";
import { HOUR_MS } from "#kernel/duration.ts";
import { fragment } from "#kernel/postgres/query.ts";
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
  return [
    ...eventRules(feeds, config),
    ...breakRules(config),
    tableRule({
      name: "mirrors",
      table: "mirror",
      alsoRemoved: ["flow"],
      rows: fragment`mirror`,
      keptMs: config.PAMM_RETAIN_TRANSFERS,
      key: BY_ID,
      begunAt: fragment`item.created_at`,
      endedAt: fragment`item.closed_at`,
    }),
    tableRule({
      name: "decided fees",
      table: "fee_decision",
      alsoRemoved: ["due_fee"],
      rows: fragment`fee_decision`,
      keptMs: HOUR_MS,
      key: BY_ID,
      begunAt: fragment`item.period_end`,
      endedAt: fragment`item.recorded_at`,
    }),
  ];
}

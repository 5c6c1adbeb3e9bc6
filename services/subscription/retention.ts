import { durationWithin } from "#kernel/process/config-variables.ts";
import { DAY_MS, HOUR_MS } from "#kernel/values/duration.ts";
import { fragment } from "#kernel/postgres/query.ts";
import { type RetentionRule, BY_ID, tableRule } from "#kernel/retention/table-rule.ts";
import { BREAK_RETENTION, breakRules, EVENT_RETENTION, eventRules, FOR_EVER } from "#kernel/retention/settings.ts";

export const SUBSCRIPTION_RETENTION = {
  ...EVENT_RETENTION,
  ...BREAK_RETENTION,
  /** Longer than the age of a backup from which a database is restored. */
  PAMM_RETAIN_TRANSFERS: durationWithin("P60D", FOR_EVER, "P180D"),
};

/**
 * Longer than a key stands for its command, and than the age of a backup. The operation of a withdrawal stays at funding; a request for one without its
 * row begins nothing, because its deadline has passed. Unassigns that were executed stay, as their subscriptions do; of a refused one nothing was.
 */
const DEPARTURES_KEPT_MS = 400 * DAY_MS;

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
      name: "departures",
      table: "departure",
      rows: fragment`departure`,
      keptMs: DEPARTURES_KEPT_MS,
      // Ids of commands grow with time.
      key: [{ column: fragment`operation_id`, type: fragment`text`, lowest: "" }],
      begunAt: fragment`item.requested_at`,
      endedAt: fragment`item.ended_at`,
      isFinished: fragment`(item.lock_owner is null and (item.state = 'REFUSED' or item.kind = 'WITHDRAWAL' and item.state = 'ENDED'))`,
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
      // A departure that has not ended reads its own again.
      isFinished: fragment`(item.departure_key = '' or not exists (
        select from departure
        where departure.lock_owner is not null and departure.state = 'DECIDED' and departure.investor_login = item.investor_login
      ))`,
    }),
  ];
}

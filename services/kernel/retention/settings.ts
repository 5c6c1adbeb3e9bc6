import { durationWithin } from "../process/config-variables.ts";
import { feedRule } from "../feed/retention.ts";
import { type RetentionRule, BY_ID, tableRule } from "./table-rule.ts";
import { fragment } from "../postgres/query.ts";

/** Above every setting that is useful: what must not be removed is kept for longer than any installation lasts. */
export const FOR_EVER = "P36500D";

/**
 * Setting of every service with feeds. A reader that has not received older entries cannot continue, so this is longer than any outage and
 * than the age of the oldest backup from which a reader is restored; JetStream keeps its messages for 14 days.
 */
export const EVENT_RETENTION = { PAMM_RETAIN_EVENTS: durationWithin("P15D", FOR_EVER, "P35D") };

/** Setting of every service with checks. */
export const BREAK_RETENTION = { PAMM_RETAIN_BREAKS: durationWithin("P30D", FOR_EVER, "P730D") };

export function eventRules(feeds: readonly string[], config: { readonly PAMM_RETAIN_EVENTS: number }): RetentionRule[] {
  return feeds.map((feed) => feedRule(feed, config.PAMM_RETAIN_EVENTS));
}

export function breakRules(config: { readonly PAMM_RETAIN_BREAKS: number }): RetentionRule[] {
  return [closedBreaks(config.PAMM_RETAIN_BREAKS)];
}

/** Breaks that were closed. Those that are open stay, and so do Masters that they have stopped. */
function closedBreaks(keptMs: number): RetentionRule {
  return tableRule({
    name: "breaks",
    table: "reconciliation_break",
    rows: fragment`reconciliation_break`,
    keptMs,
    key: BY_ID,
    begunAt: fragment`item.opened_at`,
    endedAt: fragment`item.closed_at`,
  });
}

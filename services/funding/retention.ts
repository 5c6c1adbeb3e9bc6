import { durationWithin } from "#kernel/process/config-variables.ts";
import { fragment } from "#kernel/postgres/query.ts";
import { type RetentionRule, BY_ID, tableRule } from "#kernel/retention/table-rule.ts";
import { BREAK_RETENTION, breakRules, EVENT_RETENTION, eventRules, FOR_EVER } from "#kernel/retention/settings.ts";
import { DAY_MS, parseDuration } from "#kernel/values/duration.ts";

/** The rule that removes operations. */
export const OPERATIONS = "operations";
/** Above every age of an idempotency key, so that a repeated command finds its operation. */
export const MIN_KEPT = "P400D";
/** The edge, the database and this process may have different clocks. */
const MAX_CLOCK_DIFFERENCE_MS = DAY_MS;

/** Whether an operation may be removed already, whatever the setting is and was. */
export function isOldEnough(requestedAt: Date, now: Date): boolean {
  return requestedAt.getTime() < now.getTime() - (parseDuration(MIN_KEPT) ?? 0) + MAX_CLOCK_DIFFERENCE_MS;
}

/** Whether an operation that is not recorded may have been recorded once. */
export function mayBeRemoved(requestedAt: Date, removedBefore: Date | undefined): boolean {
  return removedBefore !== undefined && requestedAt.getTime() < removedBefore.getTime() + MAX_CLOCK_DIFFERENCE_MS;
}

export const FUNDING_RETENTION = {
  ...EVENT_RETENTION,
  ...BREAK_RETENTION,
  PAMM_RETAIN_OPERATIONS: durationWithin(MIN_KEPT, FOR_EVER, "P3650D"),
};

export function fundingRules(
  feeds: readonly string[],
  config: {
    readonly PAMM_RETAIN_EVENTS: number;
    readonly PAMM_RETAIN_BREAKS: number;
    readonly PAMM_RETAIN_OPERATIONS: number;
  },
): RetentionRule[] {
  return [...eventRules(feeds, config), ...breakRules(config), operations(config.PAMM_RETAIN_OPERATIONS)];
}

/**
 * Deposits and withdrawals that have ended. The newest deposit of each Investor stays: without it the next one would be
 * its first, which has to meet the minimum of the Master.
 */
function operations(keptMs: number): RetentionRule {
  return tableRule({
    name: OPERATIONS,
    table: "cashflow",
    alsoRemoved: ["cashflow_repetition"],
    rows: fragment`cashflow`,
    keptMs,
    key: BY_ID,
    begunAt: fragment`item.created_at`,
    endedAt: fragment`item.finished_at`,
    isFinished: fragment`(
      item.action <> 'deposit' or item.state <> 'POSTED'
      or item.id < (
        select max(newest.id)
        from cashflow as newest
        where newest.login = item.login and newest.action = 'deposit' and newest.state = 'POSTED'
      ))`,
  });
}

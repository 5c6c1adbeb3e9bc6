import { durationWithin } from "#kernel/process/config-variables.ts";
import { fragment } from "#kernel/postgres/query.ts";
import { type RetentionRule, tableRule } from "#kernel/retention/table-rule.ts";
import { removeReleased } from "./store/account-locks.ts";
import { BREAK_RETENTION, breakRules, EVENT_RETENTION, eventRules, FOR_EVER } from "#kernel/retention/settings.ts";

export const PLATFORM_RETENTION = {
  ...EVENT_RETENTION,
  ...BREAK_RETENTION,
  /** The table refuses to delete scans of the last 60 days. */
  PAMM_RETAIN_ATTEMPTS: durationWithin("P61D", FOR_EVER, "P180D"),
};

export function platformRules(
  feeds: readonly string[],
  config: {
    readonly PAMM_RETAIN_EVENTS: number;
    readonly PAMM_RETAIN_BREAKS: number;
    readonly PAMM_RETAIN_ATTEMPTS: number;
  },
): RetentionRule[] {
  const { PAMM_RETAIN_ATTEMPTS: keptMs } = config;
  return [...eventRules(feeds, config), ...breakRules(config), attempts(keptMs), releasedLocks(keptMs)];
}

/**
 * Attempts of legs that have ended, with their scans. No transition of such a leg reads them: they are evidence for operators. The leg
 * stays, with the number and the last attempt that the references of its deals have, so a deal of it is never taken for a lost one.
 */
function attempts(keptMs: number): RetentionRule {
  return tableRule({
    name: "attempts",
    table: "attempt",
    alsoRemoved: ["scan"],
    rows: fragment`attempt`,
    keptMs,
    key: [
      { column: fragment`leg_number`, type: fragment`bigint`, lowest: "0" },
      { column: fragment`number`, type: fragment`smallint`, lowest: "0" },
    ],
    begunAt: fragment`item.granted_at`,
    endedAt: fragment`(
      select greatest(item.granted_at, leg.changed_at)
      from leg
      where leg.number = item.leg_number and leg.state in ('REFUSED', 'APPLIED')
    )`,
    isFinished: fragment`item.state not in ('SENDING', 'UNKNOWN')`,
  });
}

/** A saga asks for its lock until it has ended; one that comes back with an older database, for as long as there are backups. */
function releasedLocks(keptMs: number): RetentionRule {
  return {
    name: "released_locks",
    tables: ["released_lock"],
    keptMs,
    async removeNext(db, { before, maxRows }) {
      const count = await removeReleased(db, before, maxRows);
      return { count, cursor: [], endsPass: count < maxRows };
    },
  };
}

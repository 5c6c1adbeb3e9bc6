import { durationWithin } from "#kernel/config-variables.ts";
import { fragment } from "#kernel/postgres/query.ts";
import type { RetentionRule } from "#kernel/retention/rule.ts";
import { tableRule } from "#kernel/retention/table-rule.ts";
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
  return [...eventRules(feeds, config), ...breakRules(config), attempts(config.PAMM_RETAIN_ATTEMPTS)];
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
      where leg.number = item.leg_number and (leg.state = 'REFUSED' or (leg.state = 'APPLIED' and leg.verifications = 3))
    )`,
    isFinished: fragment`item.state not in ('SENDING', 'UNKNOWN')`,
  });
}

/** Tables that no rule names, and why they may be kept. */
export const KEPT: Readonly<Record<string, string>> = {
  account: "one row for each account",
  account_creation: "one row for each account that was created: its key creates once",
  adopted_deal: "the deals of an account in the days before it was registered: they are not movements of the service",
  finding: "one row for each finding about a deal or a leg, which is recorded once",
  handled_break: "one row for each break that has stopped an account: it must not stop it again",
  history_reading: "one row for each account whose history operators have had read again",
  leg: "books: what was sent under which number; the log, the search for lost deals and the ledger of operations name it",
  leg_numbering: "one row",
  log_checkpoint: "books: the balance of each account at some entries of its log",
  log_entry: "books: the log of each account, whose sum is its balance",
  login_allocation: "one row",
  lost_movement: "written after a restore only",
  open_position: "one row for each open position",
  permit_gate: "one row",
  reader_cursor: "one row",
  released_lock: "one row for each withdrawal and exit: a lock owner never acquires its lock again",
  server_offset: "one row for each change of the platform's clock and process: deals from before it are dated by it",
  sender: "one row for each start of a process; its attempts name it",
  transfer: "books: each key, under which money moves once",
  unlogged_leg: "removed when the deal is in the log",
};

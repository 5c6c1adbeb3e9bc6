import type { Pool } from "#kernel/postgres/pool.ts";
import { DAY_MS, SECOND_MS } from "#kernel/values/duration.ts";
import { StartupError } from "#kernel/process/startup-error.ts";
import { areSameWeeks, type Week } from "../domain/weeks.ts";
import { countMastersWithWeeks, findRecordedWeek, recordWeek } from "../store/open-weeks.ts";

/**
 * Ends the start of a process that would close other weeks than those that Masters are in: each shorter one since their last cut-off
 * would be closed by itself, thousands of them, while withdrawals wait, and a longer one would contain weeks that have their fees.
 */
export async function requireRecordedWeeks(pool: Pool, week: Week): Promise<void> {
  const recorded = await findRecordedWeek(pool);
  const isSame = recorded !== undefined && areSameWeeks(recorded, week);
  const masters = recorded === undefined || isSame ? 0 : await countMastersWithWeeks(pool);
  if (recorded !== undefined && masters > 0) throw new StartupError(otherWeeks(recorded, week, masters));
  if (!isSame) await recordWeek(pool, week);
}

function otherWeeks(recorded: Week, week: Week, masters: number): string {
  const name = recorded.periodMs === week.periodMs ? "PAMM_FEE_ANCHOR" : "PAMM_FEE_PERIOD";
  const period = `PAMM_FEE_PERIOD=${formatPeriod(recorded.periodMs)}`;
  const set = `${period} and PAMM_FEE_ANCHOR=${recorded.anchor.toISOString()}`;
  return `${name} differs from the fee weeks of Masters with Investors (${masters}): set ${set}, or use other weeks where no Investor is assigned, such as in a database of its own (make run: another PAMM_STATE_DIR)`;
}

function formatPeriod(ms: number): string {
  return ms % DAY_MS === 0 ? `P${ms / DAY_MS}D` : `PT${ms / SECOND_MS}S`;
}

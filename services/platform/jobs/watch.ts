import { many, sql } from "#kernel/postgres/query.ts";
import type { Deps } from "../deps.ts";
import { platformClockDiffers, showUnknownOutcomes, showUnshownAccounts, type UnknownOutcomes } from "../metrics.ts";
import { Mt5Error } from "../mt5/errors.ts";
import { countUnshown } from "../store/unshown-accounts.ts";

/** Notices a platform's clock that is not in its zone, or differs from the local one, also while no deal is read. */
export async function compareClocks({ mt5, log }: Pick<Deps, "mt5" | "log">): Promise<boolean> {
  try {
    await mt5.serverClock();
    platformClockDiffers.set(0);
  } catch (error) {
    if (!(error instanceof Mt5Error) || error.problem !== "clock_differs") throw error;
    platformClockDiffers.set(1);
    log.error("clock of the trading platform differs, no deal is read until operators have corrected it", { error });
  }
  return false;
}

/** Updates the metrics of legs of unknown outcome. There are at most as many as permits of all sessions, eight of each, unless answers are lost. */
export async function watchOutcomes({ pool }: Pick<Deps, "pool">): Promise<boolean> {
  const outcomes = await many<UnknownOutcomes>(
    pool,
    sql`select leg.state, count(*)::int as count, sum(abs(leg.amount_minor))::bigint as "amountMinor",
               greatest(extract(epoch from clock_timestamp() - min(first.granted_at)), 0)::float8 as "oldestSeconds"
        from leg
             join attempt as first on first.leg_number = leg.number and first.number = 1
        where leg.state in ('SENDING', 'UNKNOWN')
        group by leg.state`,
  );
  showUnknownOutcomes(outcomes);
  return false;
}

/** Updates the metric of accounts that are not shown. */
export async function watchUnshownAccounts({ pool }: Pick<Deps, "pool">): Promise<boolean> {
  showUnshownAccounts(await countUnshown(pool));
  return false;
}

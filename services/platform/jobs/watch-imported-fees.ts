import { one, sql } from "#kernel/postgres/query.ts";
import type { Deps } from "../deps.ts";
import { showUnclaimedFees, type UnclaimedFees } from "../metrics.ts";

/** Updates the metrics of fees that were imported and that no fee of `fee` has claimed yet. */
export async function watchImportedFees({ pool }: Pick<Deps, "pool">): Promise<boolean> {
  showUnclaimedFees(
    await one<UnclaimedFees>(
      pool,
      sql`select count(*)::int as count, coalesce(-sum(debit.amount_minor), 0)::bigint as "amountMinor"
          from transfer
               join leg as debit on debit.transfer_id = transfer.id and debit.ordinal = 1
          where unclaimed_login is not null`,
    ),
  );
  return false;
}

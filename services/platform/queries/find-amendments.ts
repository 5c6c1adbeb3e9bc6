import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/values/money.ts";
import type { FindAmendmentsRequest, FindAmendmentsResponse } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { requireSome } from "../refusals.ts";
import { listAmendmentsOf } from "../store/amendments.ts";

/** The newest amendment of each deal, and what operators have booked since. */
export async function findAmendments(
  { pool, settings }: Pick<Deps, "pool" | "settings">,
  { login, dealIds }: FindAmendmentsRequest,
): Promise<FindAmendmentsResponse> {
  requireSome(dealIds, "deals");
  const found = await listAmendmentsOf(pool, { login, server: settings.server, dealIds });
  return {
    amendments: found.map(({ dealId, reason, foundAt, corrected }) => ({
      dealId,
      reason,
      foundAt,
      corrected: corrected === null ? undefined : moneyToProto(usd(corrected)),
    })),
  };
}

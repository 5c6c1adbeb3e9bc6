import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import { MAX_PAGE_SIZE } from "#kernel/page.ts";
import type { FindAmendmentsRequest, FindAmendmentsResponse } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { refuse } from "../refusals.ts";
import { listAmendmentsOf } from "../store/found-amendments.ts";

/** The newest amendment of each deal, and what was booked because of all of them. */
export async function findAmendments(
  { pool, settings }: Pick<Deps, "pool" | "settings">,
  { login, dealIds }: FindAmendmentsRequest,
): Promise<FindAmendmentsResponse> {
  if (dealIds.length < 1 || dealIds.length > MAX_PAGE_SIZE) {
    throw refuse("validation_failed", `A request has 1 to ${MAX_PAGE_SIZE} deals.`);
  }
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

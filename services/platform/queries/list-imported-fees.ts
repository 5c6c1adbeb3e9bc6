import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/values/money.ts";
import type { ListImportedFeesRequest, ListImportedFeesResponse } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { hashOfImportedFee } from "../domain/imported-leg.ts";
import { requireLimit } from "../refusals.ts";
import { listImportedFees as listFees } from "../store/imported-legs.ts";

/** Fees that were executed in the lost time and that are no payment yet. */
export async function listImportedFees(
  { pool }: Pick<Deps, "pool">,
  { afterTransferId, limit }: ListImportedFeesRequest,
): Promise<ListImportedFeesResponse> {
  requireLimit(limit);
  const fees = await listFees(pool, afterTransferId, limit);
  return {
    fees: fees.map(({ key, amountMinor, creditLogin, ...fee }) => ({
      ...fee,
      keyHash: hashOfImportedFee(key),
      amount: moneyToProto(usd(amountMinor)),
      paymentAccountLogin: creditLogin ?? undefined,
    })),
  };
}

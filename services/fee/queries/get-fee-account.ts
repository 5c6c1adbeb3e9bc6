import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import type { GetFeeAccountRequest, GetFeeAccountResponse } from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import { getFeeAccount as readAccount } from "../store/fee-accounts.ts";

/** What was charged of an Investor, and what of it is owed. An Investor without a result has 0.00. */
export async function getFeeAccount(
  { pool }: Pick<Deps, "pool">,
  { investorLogin, masterLogin }: GetFeeAccountRequest,
): Promise<GetFeeAccountResponse> {
  const { mark, debt } = await readAccount(pool, investorLogin, masterLogin);
  return { markE8: mark, debt: moneyToProto(usd(debt)) };
}

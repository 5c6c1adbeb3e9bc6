import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import type { GetWaitingFeesRequest, GetWaitingFeesResponse } from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import { sumWaitingForAccount } from "../store/due-payments.ts";

/** What waits for the payment account of a Master, which the broker has archived. */
export async function getWaitingFees(
  { pool }: Pick<Deps, "pool">,
  { masterLogin }: GetWaitingFeesRequest,
): Promise<GetWaitingFeesResponse> {
  const waiting = await sumWaitingForAccount(pool, masterLogin);
  if (waiting === undefined) return { amount: undefined, since: undefined, paymentAccountLogin: "" };
  const { amount, since, paymentAccountLogin } = waiting;
  return { amount: moneyToProto(usd(amount)), since, paymentAccountLogin };
}

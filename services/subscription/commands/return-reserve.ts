import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/values/money.ts";
import type { ReturnReserveRequest, ReturnReserveResponse } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import { isPresent, validate } from "../domain/validate.ts";
import { returnReserve as returnToPool } from "../processes/departure/return-reserve.ts";

/** Returns the reserve of a debit that was finally refused. Idempotent: a repeated call returns 0.00. */
export async function returnReserve(deps: Deps, { key }: ReturnReserveRequest): Promise<ReturnReserveResponse> {
  validate(isPresent("key", key));
  return { amount: moneyToProto(usd(await returnToPool(deps, key))) };
}

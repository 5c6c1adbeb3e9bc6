import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import { MAX_PAGE_SIZE } from "#kernel/page.ts";
import type { GetFeeFloorsRequest, GetFeeFloorsResponse } from "#proto/pamm/subscription/v1/subscription.ts";
import { isBetween, validate } from "../domain/validate.ts";
import type { Deps } from "../deps.ts";
import { listFeeFloors } from "../store/fees.ts";

/** The part of each balance that must not be used to pay a fee. */
export async function getFeeFloors(
  { pool }: Deps,
  { investorLogins }: GetFeeFloorsRequest,
): Promise<GetFeeFloorsResponse> {
  validate(isBetween("investor_logins", investorLogins.length, 1, MAX_PAGE_SIZE));
  const floors = await listFeeFloors(pool, investorLogins);
  return {
    floors: floors.map(({ floor, ...rest }) => ({ ...rest, floor: moneyToProto(usd(floor)) })),
  };
}

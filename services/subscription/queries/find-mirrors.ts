import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import { MAX_PAGE_SIZE } from "#kernel/page.ts";
import type { FindMirrorsRequest, FindMirrorsResponse } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import { isBetween, validate } from "../domain/validate.ts";
import { listMirroredParts } from "../store/mirrored-parts.ts";

/** What transfers on Investors move on their Masters, and by which mirrors. */
export async function findMirrors(
  { pool }: Pick<Deps, "pool">,
  { keys }: FindMirrorsRequest,
): Promise<FindMirrorsResponse> {
  validate(isBetween("keys", keys.length, 1, MAX_PAGE_SIZE));
  const parts = await listMirroredParts(pool, keys);
  return { items: parts.map(({ amountMinor, ...part }) => ({ ...part, amount: moneyToProto(usd(amountMinor)) })) };
}

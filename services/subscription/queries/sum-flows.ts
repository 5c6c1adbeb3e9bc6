import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/values/money.ts";
import { later } from "#kernel/jobs/retry.ts";
import type {
  FindMirrorsRequest,
  FindMirrorsResponse,
  SumFlowsRequest,
  SumFlowsResponse,
} from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import { sumFlows as readSums } from "../store/flows.ts";
import { findLastDeal } from "../store/master-results.ts";
import { MAX_PAGE_SIZE } from "#kernel/values/page.ts";
import { isBetween, validate } from "../domain/validate.ts";
import { listMirroredParts } from "../store/mirrored-parts.ts";

/** Flows are removed some time after they were mirrored; sums of an earlier time may lack some. */
export async function sumFlows(
  { pool, now, transfersKeptMs }: Pick<Deps, "pool" | "now" | "transfersKeptMs">,
  { investorLogin, masterLogin, after, through = now(), throughNumber }: SumFlowsRequest,
): Promise<SumFlowsResponse> {
  const { inflow, outflow, begunAt } = await readSums(pool, { investorLogin, masterLogin, after, through });
  const lastDeal = await findLastDeal(pool, masterLogin, throughNumber);
  return {
    throughDealId: lastDeal?.dealId ?? 0n,
    throughDealAt: lastDeal?.dealAt,
    inflow: moneyToProto(usd(inflow)),
    outflow: moneyToProto(usd(outflow)),
    complete: begunAt === undefined || begunAt >= later(now(), -transfersKeptMs),
  };
}

/** What transfers on Investors move on their Masters, and by which mirrors. */
export async function findMirrors(
  { pool }: Pick<Deps, "pool">,
  { keys }: FindMirrorsRequest,
): Promise<FindMirrorsResponse> {
  validate(isBetween("keys", keys.length, 1, MAX_PAGE_SIZE));
  const parts = await listMirroredParts(pool, keys);
  return { items: parts.map(({ amountMinor, ...part }) => ({ ...part, amount: moneyToProto(usd(amountMinor)) })) };
}

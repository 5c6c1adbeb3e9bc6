import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import { later } from "#kernel/retry.ts";
import type { SumFlowsRequest, SumFlowsResponse } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import { sumFlows as readSums } from "../store/flows.ts";
import { findLastDeal } from "../store/last-deals.ts";

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

import type { Check } from "#kernel/reconcile/check.ts";
import type { Deps } from "../deps.ts";
import { endings } from "./endings.ts";
import { externalFundsOnInvestors, externalFundsThatHurts } from "./external-funds.ts";
import { mirrors } from "./mirrors.ts";
import { pools } from "./pools.ts";

/** What has to tie in the pools, and between them and the log of each account. */
export function subscriptionChecks(deps: Pick<Deps, "pool" | "platform">): Check[] {
  return [pools(deps), externalFundsThatHurts(deps), externalFundsOnInvestors(deps), mirrors(deps), endings(deps)];
}

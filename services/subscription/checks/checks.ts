import type { Check } from "#kernel/reconcile/check.ts";
import type { Deps } from "../deps.ts";
import { endings } from "./endings.ts";
import { externalFundsInvestor, externalFundsMaster } from "./external-funds.ts";
import { mirrors } from "./mirrors.ts";
import { pools } from "./pools.ts";

/** The reconciliation checks of the pools, and of the pools against the log of each account. */
export function subscriptionChecks(deps: Pick<Deps, "pool" | "platform">): Check[] {
  return [pools(deps), externalFundsMaster(deps), externalFundsInvestor(deps), mirrors(deps), endings(deps)];
}

import type { Check } from "#kernel/reconcile/check.ts";
import { reviewVotes, type VotesDeps } from "#kernel/review/check-votes.ts";
import type { Deps } from "../deps.ts";
import { endings } from "./endings.ts";
import { externalFundsInvestor, externalFundsMaster } from "./external-funds.ts";
import { lateFees } from "./late-fees.ts";
import { mirrors } from "./mirrors.ts";
import { pools } from "./pools.ts";
import { earned } from "./find-pairs.ts";

/** The reconciliation checks of the pools, and of the pools against the log of each account. */
export function subscriptionChecks(deps: Pick<Deps, "pool" | "platform"> & Pick<VotesDeps, "confirm">): Check[] {
  const { pool, confirm } = deps;
  // A break stops the Masters that its login concerns.
  const votes = reviewVotes({ pool, confirm, service: "subscription", masterOf: () => "" });
  return [
    pools(deps),
    externalFundsMaster(deps),
    externalFundsInvestor(deps),
    mirrors(deps),
    endings(deps),
    earned(deps),
    lateFees(deps),
    votes,
  ];
}

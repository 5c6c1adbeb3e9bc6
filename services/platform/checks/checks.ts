import type { Check } from "#kernel/reconcile/check.ts";
import { type BalanceDeps, balances } from "./balances.ts";
import { currencies } from "./currencies.ts";
import { dealMatching } from "./deal-matching.ts";
import { legs } from "./legs.ts";
import { ownership, type OwnershipDeps } from "./ownership.ts";
import { reviewVotes, type VotesDeps } from "#kernel/review/check-votes.ts";
import { type RightsDeps, tradingRights } from "./trading-rights.ts";
import { unknownAccounts } from "./unknown-accounts.ts";
import { unresolved } from "./unresolved.ts";

export type CheckDeps = BalanceDeps & OwnershipDeps & RightsDeps & Pick<VotesDeps, "confirm">;

/** Checks of the trading platform against the log, of legs against the log, and of transfers against other services. */
export function platformChecks(deps: CheckDeps): Check[] {
  const { pool, confirm } = deps;
  const votes = reviewVotes({ pool, confirm, service: "platform", masterOf: () => "" });
  return [
    legs(deps),
    dealMatching(deps),
    balances(deps),
    currencies(deps),
    unresolved(deps),
    unknownAccounts(deps),
    tradingRights(deps),
    ownership(deps),
    votes,
  ];
}

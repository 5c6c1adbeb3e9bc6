import type { Check } from "#kernel/reconcile/check.ts";
import { type BalanceDeps, balances } from "./balances.ts";
import { dealMatching } from "./deal-matching.ts";
import { legs } from "./legs.ts";
import { ownership, type OwnershipDeps } from "./ownership.ts";
import { reviewVotes, type VotesDeps } from "#kernel/review/check-votes.ts";
import { unknownAccounts } from "./unknown-accounts.ts";
import { unresolved } from "./unresolved.ts";

/** Checks of the trading platform against the log, of legs against the log, and of transfers against the services that request them. */
export function platformChecks(deps: BalanceDeps & OwnershipDeps & Pick<VotesDeps, "confirm">): Check[] {
  const { pool, confirm } = deps;
  const votes = reviewVotes({ pool, confirm, service: "platform", masterOf: () => "" });
  return [
    legs(deps),
    dealMatching(deps),
    balances(deps),
    unresolved(deps),
    unknownAccounts(deps),
    ownership(deps),
    votes,
  ];
}

import type { Check } from "#kernel/reconcile/check.ts";
import { reviewVotes, type VotesDeps } from "#kernel/review/check-votes.ts";
import type { Deps } from "../deps.ts";
import { late } from "./late.ts";
import { payments } from "./payments.ts";

/** Fee runs, payments and credits must reconcile, and no fee may be overdue. */
export function feeChecks(deps: Pick<Deps, "pool"> & Pick<VotesDeps, "confirm">): Check[] {
  const { pool, confirm } = deps;
  // The reviews of fee are about Masters.
  const votes = reviewVotes({ pool, confirm, service: "fee", masterOf: (login) => login });
  return [payments(deps), late(deps), votes];
}

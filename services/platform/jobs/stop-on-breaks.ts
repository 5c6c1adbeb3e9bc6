import { doesStop } from "#catalogue/checks.ts";
import { listBreaks } from "#kernel/reconcile/list-breaks.ts";
import type { BreakSource } from "#kernel/reconcile/stop-on-breaks.ts";
import type { Break } from "#proto/pamm/common/v1/reconciliation.ts";
import type { Deps } from "../deps.ts";
import { stopForBreak } from "../protocol/reviews/stop-account.ts";

/** A break of the own checks stops every account that it concerns, whatever its role. */
export function stoppingBreaks(deps: Pick<Deps, "pool" | "log" | "settings">): readonly BreakSource[] {
  return [
    {
      service: "platform",
      list: (request) => listBreaks(deps.pool, request),
      mastersOf: async (page) => page.map((found) => (doesStop(found.check, "account") ? accountsOf(found) : [])),
      stop: (tx, login, found) => stopForBreak(tx, deps, login, found),
    },
  ];
}

/** The evidence names the accounts of all legs. */
function accountsOf({ login, evidence }: Break): string[] {
  const { legs = [] } = JSON.parse(evidence) as { legs?: readonly { readonly login: string }[] };
  const logins = [login, ...legs.map((leg) => leg.login)];
  return [...new Set(logins.filter((each) => each !== ""))];
}

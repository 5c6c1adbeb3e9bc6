import type { Check } from "#kernel/reconcile/check.ts";
import { type BalanceDeps, balances } from "./balances.ts";
import { dealMatching } from "./deal-matching.ts";
import { legs } from "./legs.ts";
import { unknownAccounts } from "./unknown-accounts.ts";
import { unresolved } from "./unresolved.ts";

/** Checks of the trading platform against the log, and of legs against the log. */
export function platformChecks(deps: BalanceDeps): Check[] {
  return [legs(deps), dealMatching(deps), balances(deps), unresolved(deps), unknownAccounts(deps)];
}

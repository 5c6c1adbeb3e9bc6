import type { Check } from "#kernel/reconcile/check.ts";
import type { Deps } from "../deps.ts";
import { late } from "./late.ts";
import { payments } from "./payments.ts";

/** Fee runs, payments, credits and high-water marks must reconcile, and no fee may be overdue. */
export function feeChecks(deps: Pick<Deps, "pool">): Check[] {
  return [payments(deps), late(deps)];
}

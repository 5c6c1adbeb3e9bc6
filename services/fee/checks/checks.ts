import type { Check } from "#kernel/reconcile/check.ts";
import type { Deps } from "../deps.ts";
import { late } from "./late.ts";
import { payments } from "./payments.ts";

/** Runs, payments, credits and marks must reconcile, and nothing may be overdue. */
export function feeChecks(deps: Pick<Deps, "pool">): Check[] {
  return [payments(deps), late(deps)];
}

import type { Check } from "#kernel/reconcile/check.ts";
import type { Deps } from "../deps.ts";
import { payments } from "./payments.ts";

/** What has to tie between runs, payments, credits and marks. */
export function feeChecks(deps: Pick<Deps, "pool">): Check[] {
  return [payments(deps)];
}

import type { Check } from "#kernel/reconcile/check.ts";
import type { Deps } from "../deps.ts";
import { late } from "./late.ts";
import { payments } from "./payments.ts";

/** What has to tie between runs, payments, credits and marks, and what has to be over. */
export function feeChecks(deps: Pick<Deps, "pool">): Check[] {
  return [payments(deps), late(deps)];
}

import type { Check } from "#kernel/reconcile/check.ts";
import type { Deps } from "../deps.ts";
import { completeness } from "./completeness.ts";

/** Requests must reconcile with the transfers that platform recorded. */
export function fundingChecks(deps: Pick<Deps, "pool" | "platform">): Check[] {
  return [completeness(deps)];
}

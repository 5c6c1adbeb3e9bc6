import type { Check } from "#kernel/reconcile/check.ts";
import type { Deps } from "../deps.ts";
import { completeness } from "./completeness.ts";

/** What has to tie between requests and what became of them. */
export function fundingChecks(deps: Pick<Deps, "pool" | "platform">): Check[] {
  return [completeness(deps)];
}

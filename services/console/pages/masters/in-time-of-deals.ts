import type { Models } from "../../../client/index.ts";
import type { Valued } from "./performance-plots.tsx";

/** Results in the order of their deals: the API has the newest first, and a deal that was found late after those of its time. */
export function inTimeOfDeals(results: readonly Models["MasterResult"][]): readonly Valued[] {
  return results
    .map((one) => ({ ...one, at: one.deal_at }))
    .toSorted((left, right) =>
      left.at === right.at ? Number(left.number - right.number) : left.at < right.at ? -1 : 1,
    );
}

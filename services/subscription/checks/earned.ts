import { fragment } from "#kernel/postgres/query.ts";
import { type Check, CHECK_EVERY_MS } from "#kernel/reconcile/check.ts";
import { walkTables } from "#kernel/reconcile/walk.ts";
import type { Deps } from "../deps.ts";
import { comparePairs, isBroken, pairFinding, recordCompared } from "./find-pairs.ts";

/** Each is examined with its parts, one for each result: a page of a Master with many results still ends in time. */
const TABLES = { pair: { name: "pair", rows: fragment`pair`, id: fragment`change_id`, pageRows: 10 } };

/** investor_profits: fees follow from profit, so what was earned is the sum of its parts and fills its layers, and no high-water mark falls. */
export function earned({ pool }: Pick<Deps, "pool">): Check {
  return {
    name: "investor_profits",
    title: "What each Investor earned is the sum of its parts and layers, and no high-water mark decreases.",
    everyMs: CHECK_EVERY_MS,
    confirmations: 1,
    run: (request) =>
      walkTables(
        {
          pool,
          tables: TABLES,
          everyMs: CHECK_EVERY_MS,
          async examine(db, pages) {
            const pairs = await comparePairs(db, pages.pair, request.pendingBreaks);
            return {
              async findings() {
                await recordCompared(pool, pairs);
                return pairs.filter(isBroken).map(pairFinding);
              },
            };
          },
        },
        request,
      ),
  };
}

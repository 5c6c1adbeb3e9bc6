import { accruedIn, changeUnits } from "./pool/accruals.ts";
import type { Allocation } from "./pool/allocate-deal.ts";
import { sumOf } from "./pool/rounding.ts";
import { reissueUnits } from "./pool/run-flows.ts";
import type { UnitPool } from "./pool/unit-pool.ts";
import { allHoldings, withHoldings } from "./pool/units.ts";

/** How the division of results up to a deal differs from that by the units of the books. In cents. */
export type Correction = {
  /** Log position of the last of these deals with a result: its parts are changed. */
  readonly number: bigint;
  /** Signed changes, by subscription; own capital gives them. */
  readonly changes: ReadonlyMap<bigint, bigint>;
  /** What of them was posted to Investors who are in no pool by the books: it settles flows that are still to be mirrored. */
  readonly elsewhere: bigint;
};

export type Corrected = {
  readonly allocation: Allocation;
  /** With units of what each holding has: those that the books had say nothing about shares that were others in between. */
  readonly after: UnitPool;
};

/** The amounts that were posted are the division: the parts follow from them, not from units. */
export function correctPool({ pool, parts, own }: Allocation, { changes, elsewhere }: Correction): Corrected {
  const given = sumOf(changes.values());
  const amounts = new Map(parts.map(({ subscriptionId, amount }) => [subscriptionId, amount]));
  for (const [subscriptionId, change] of changes) {
    amounts.set(subscriptionId, (amounts.get(subscriptionId) ?? 0n) + change);
  }
  const divided = withHoldings(pool, [
    ...pool.holdings.map((holding) => ({
      ...holding,
      pooled: holding.pooled + (changes.get(holding.subscriptionId) ?? 0n),
    })),
    { ...pool.own, pooled: pool.own.pooled - given - elsewhere },
  ]);
  return {
    allocation: {
      pool: divided,
      parts: [...amounts].map(([subscriptionId, amount]) => ({ subscriptionId, amount })),
      own: own - given - elsewhere,
    },
    after: changeUnits(divided, reissueUnits(allHoldings(divided), accruedIn(divided))),
  };
}

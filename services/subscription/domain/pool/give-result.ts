import { changeUnits } from "./accruals.ts";
import { valueOfUnits } from "./equity.ts";
import { shareResult } from "./share-result.ts";
import type { E8, Part, UnitHolding, UnitPool } from "./unit-pool.ts";
import { totalUnits } from "./units.ts";

export type GivenResult = {
  readonly pool: UnitPool;
  /** Cents of each subscription, without own capital; subscriptions without a part are left out. */
  readonly parts: readonly Part[];
  /** What own capital has given to Investors, signed: its own part stays with it. */
  readonly given: bigint;
  /** The units by which it was shared. */
  readonly poolUnits: bigint;
  /** What those units are worth before and after it. */
  readonly worth: Worth;
};

type Worth = { readonly before: E8; readonly after: E8 };

/**
 * Own capital gives an amount as a result of now. It is shared by the present units without those of the money that is given, and so is what
 * these units are worth. Units are bought and redeemed for it at the next strike, all at the value of then, so that each holding goes on with
 * the units of what it has. Undefined while no Investor has units.
 */
export function giveResult(pool: UnitPool, amount: bigint): GivenResult | undefined {
  const { own } = pool;
  const capital = own.pooled + own.waiting;
  const rest = capital - amount;
  const units = capital > 0n && rest > 0n ? (own.units * rest) / capital : 0n;
  const ofInvestors = totalUnits(pool.holdings);
  if (ofInvestors === 0n) return undefined;
  // What own capital has accrued is fixed first, because its units change.
  const sharing = changeUnits(pool, [...pool.holdings, { ...own, units, pooled: rest, waiting: 0n }]);
  const shared = shareResult(sharing, amount);
  const given = amount - shared.own;
  const amounts = new Map(shared.parts.map((part) => [part.subscriptionId, part.amount]));
  const holdings = pool.holdings.map((holding, index) => {
    const { carry = 0n } = shared.pool.holdings[index] ?? {};
    return moveLater({ ...holding, carry }, amounts.get(holding.subscriptionId) ?? 0n);
  });
  return {
    pool: { ...pool, holdings, own: moveLater({ ...own, carry: shared.pool.own.carry }, -given) },
    parts: shared.parts,
    given,
    poolUnits: units + ofInvestors,
    worth: { before: valueOfUnits(sharing), after: valueOfUnits(shared.pool) },
  };
}

/** An inflow or outflow, whose units follow at the next strike. */
export function moveLater(holding: UnitHolding, amount: bigint): UnitHolding {
  if (amount >= 0n) return { ...holding, waiting: holding.waiting + amount };
  return { ...holding, pooled: holding.pooled + amount, unredeemed: holding.unredeemed - amount };
}

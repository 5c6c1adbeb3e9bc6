import { checkCarries } from "./check-pool.ts";
import { expectWhole } from "./others.ts";
import { divideToSum, sumOf } from "./rounding.ts";
import { type E8, E8_PER_CENT, type Part, SCALE, type UnitPool } from "./unit-pool.ts";
import { allHoldings, indexOfLargestUnits, sharingHoldings, withHoldings } from "./units.ts";

/** The attributed result that a close makes due: one amount per holding, own capital last, and their sum. */
export type Release = { readonly total: E8; readonly amounts: readonly E8[] };

const NO_RELEASE: Release = { total: 0n, amounts: [] };

/** The pool after a result, and the part of each Investor. */
export type Allocation = {
  readonly pool: UnitPool;
  /** Cents of each subscription, without own capital; subscriptions without a part are left out. */
  readonly parts: readonly Part[];
  /** Cents that go to own capital: they stay on the Master. */
  readonly own: bigint;
};

/** 1e-6 USD: what rounds to 1e-8 USD several times stays below. */
export const CENT_TOLERANCE: E8 = 100n;

/**
 * Allocates a result (cents): the released amounts go to the holdings that earned them, the rest is shared by units.
 * Parts are paid in whole cents; each rounding remainder is carried to the next deal, so that rounding favours no
 * holding over many small results.
 */
export function shareResult(pool: UnitPool, result: bigint, release = NO_RELEASE): Allocation {
  const all = allHoldings(pool);
  expectWhole(all);
  const sharing = sharingHoldings(all).map(({ units }) => units);
  const rest = result * E8_PER_CENT - release.total;
  const byUnits = divideToSum(
    sharing.map((units) => rest * units),
    sumOf(sharing),
    rest,
  );
  const due = all.map(({ carry }, index) => carry + (release.amounts[index] ?? 0n) + (byUnits[index] ?? 0n));
  passOnRemainders(pool, due);
  const paid = divideToSum(due, E8_PER_CENT, result);
  const after = withHoldings(
    pool,
    all.map((holding, index) => {
      const amount = paid[index] ?? 0n;
      const carry = (due[index] ?? 0n) - amount * E8_PER_CENT;
      return amount === 0n && carry === holding.carry
        ? holding
        : { ...holding, pooled: holding.pooled + amount, carry };
    }),
  );
  checkCarries(after);
  const parts = after.holdings.map(({ subscriptionId }, index) => ({ subscriptionId, amount: paid[index] ?? 0n }));
  return { pool: after, parts: parts.filter(({ amount }) => amount !== 0n), own: paid.at(-1) ?? 0n };
}

/**
 * A holding with neither units nor accruals gets whole cents now, and its remainder goes to the holding with most
 * units, because a carry without later results would never be paid. Changes `due` in place.
 */
function passOnRemainders(pool: UnitPool, due: E8[]): void {
  const all = allHoldings(pool);
  const heir = indexOfLargestUnits(all);
  if (heir === undefined) return;
  // A holding without units accrues only its basis; a basis below 1e-8 USD is a rounding remainder.
  const accruing = pool.accruals.filter(({ basis }) => basis >= SCALE || basis <= -SCALE);
  const hasAccrual = new Set(accruing.map(({ subscriptionId }) => subscriptionId));
  let passedOn = 0n;
  for (const [index, { subscriptionId, units }] of all.entries()) {
    const amount = due[index] ?? 0n;
    if (units > 0n || hasAccrual.has(subscriptionId)) continue;
    due[index] = towardsZero(amount);
    passedOn += amount - towardsZero(amount);
  }
  due[heir] = (due[heir] ?? 0n) + passedOn;
}

/**
 * Rounds to whole cents towards zero. An amount within the tolerance of the next cent counts as that cent, because
 * partial closes, each rounded to 1e-8 USD, must not lose the last cent.
 */
function towardsZero(amount: E8): E8 {
  const raised = amount + (amount < 0n ? -CENT_TOLERANCE : CENT_TOLERANCE);
  return raised - (raised % E8_PER_CENT);
}

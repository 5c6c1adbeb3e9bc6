import { checkCarries } from "./check-pool.ts";
import type { Release } from "./close-position.ts";
import { divideToSum, sumOf } from "./rounding.ts";
import { type Accrual, type E8, E8_PER_CENT, SCALE, type UnitPool } from "./unit-pool.ts";
import { indexOfLargestUnits, suspenseUnits } from "./units.ts";

export type SharedResult = {
  readonly pool: UnitPool;
  /** Who gets how many cents; who gets none is not here. */
  readonly parts: readonly { readonly subscriptionId: bigint; readonly amount: bigint }[];
  /** Cents that belong to nobody. */
  readonly suspense: bigint;
};

/** 1e-6 USD. */
const HAIR = 100n;

/**
 * What is released goes to those who earned it, the rest by units. All of it is paid in whole cents now; what rounding
 * leaves of each is carried to the next deal, so that over many small results nobody gains by its place in the list.
 */
export function shareResult(pool: UnitPool, result: bigint, release: Release | undefined): SharedResult {
  const units = [...pool.holdings.map((holding) => holding.units), suspenseUnits(pool.holdings)];
  const carries = [...pool.holdings.map((holding) => holding.carry), pool.suspense.carry];
  const rest = result * E8_PER_CENT - (release?.total ?? 0n);
  const byUnits = divideToSum(
    units.map((own) => rest * own),
    sumOf(units),
    rest,
  );
  const due = carries.map((carry, index) => carry + (release?.amounts[index] ?? 0n) + (byUnits[index] ?? 0n));
  handOn(pool, due);
  return pay(pool, due, divideToSum(due, E8_PER_CENT, result));
}

/**
 * Whoever has neither units nor accruals left gets whole cents now, and the rest goes to the holding with most units: a
 * carry must not wait for a result that will never come. Changes what is due in place.
 */
function handOn(pool: UnitPool, due: E8[]): void {
  const heir = indexOfLargestUnits(pool.holdings);
  if (heir === undefined) return;
  const hasMore = new Set(pool.accruals.filter(isSomething).map((row) => row.subscriptionId));
  let handed = 0n;
  for (const [index, amount] of due.entries()) {
    const holding = pool.holdings[index];
    if ((holding !== undefined && holding.units > 0n) || hasMore.has(holding?.subscriptionId)) continue;
    due[index] = towardsZero(amount);
    handed += amount - towardsZero(amount);
  }
  due[heir] = (due[heir] ?? 0n) + handed;
}

/** To whole cents. What is a hair below one is one: partial closes, each rounded to 1e-8, must not cost their last cent. */
function towardsZero(amount: E8): E8 {
  const hair = amount < 0n ? -HAIR : HAIR;
  return amount + hair - ((amount + hair) % E8_PER_CENT);
}

/** Without units the basis is all there is. Less than 1e-8 is what rounding left of nothing. */
function isSomething({ basis }: Accrual): boolean {
  return basis >= SCALE || basis <= -SCALE;
}

function pay(pool: UnitPool, due: readonly E8[], paid: readonly bigint[]): SharedResult {
  const carries = due.map((amount, index) => amount - (paid[index] ?? 0n) * E8_PER_CENT);
  const parts: { subscriptionId: bigint; amount: bigint }[] = [];
  const holdings = pool.holdings.map((holding, index) => {
    const amount = paid[index] ?? 0n;
    const carry = carries[index] ?? 0n;
    if (amount !== 0n) parts.push({ subscriptionId: holding.subscriptionId, amount });
    return amount === 0n && carry === holding.carry ? holding : { ...holding, pooled: holding.pooled + amount, carry };
  });
  const [suspense = 0n, carry = 0n] = [paid.at(-1), carries.at(-1)];
  const after = { ...pool, holdings, suspense: { amount: pool.suspense.amount + suspense, carry } };
  checkCarries(after);
  return { pool: after, parts, suspense };
}

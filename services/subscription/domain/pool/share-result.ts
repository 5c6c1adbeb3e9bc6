import { checkCarries } from "./check-pool.ts";
import type { Release } from "./close-position.ts";
import { divideToSum, sumOf } from "./rounding.ts";
import { type Accrual, type E8, E8_PER_CENT, SCALE, type UnitPool } from "./unit-pool.ts";
import { indexOfLargestUnits, suspenseUnits } from "./units.ts";

export type SharedResult = {
  readonly pool: UnitPool;
  /** Cents of each subscription; subscriptions without a part are left out. */
  readonly parts: readonly { readonly subscriptionId: bigint; readonly amount: bigint }[];
  /** Cents that go to suspense. */
  readonly suspense: bigint;
};

/** 1e-6 USD. */
const CENT_TOLERANCE: E8 = 100n;

/**
 * Allocates a result (cents): the released amounts go to the holdings that earned them, the rest is shared by units.
 * Parts are paid in whole cents; each rounding remainder is carried to the next deal, so that rounding favours no
 * holding over many small results.
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
  passOnRemainders(pool, due);
  return pay(pool, due, divideToSum(due, E8_PER_CENT, result));
}

/**
 * A holding with neither units nor accruals gets whole cents now, and its remainder goes to the holding with most
 * units, because a carry without later results would never be paid. Changes `due` in place.
 */
function passOnRemainders(pool: UnitPool, due: E8[]): void {
  const heir = indexOfLargestUnits(pool.holdings);
  if (heir === undefined) return;
  const hasAccrual = new Set(pool.accruals.filter(isNotZero).map((row) => row.subscriptionId));
  let passedOn = 0n;
  for (const [index, amount] of due.entries()) {
    const holding = pool.holdings[index];
    if ((holding !== undefined && holding.units > 0n) || hasAccrual.has(holding?.subscriptionId)) continue;
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

/** A holding without units accrues only its basis; a basis below 1e-8 USD is a rounding remainder. */
function isNotZero({ basis }: Accrual): boolean {
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

import { PoolBroken } from "./unit-pool.ts";

/** Rounds towards minus infinity, so that profits and losses are rounded alike. The divisor is positive. */
export function floorDivide(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  return dividend < 0n && quotient * divisor !== dividend ? quotient - 1n : quotient;
}

export function ceilDivide(dividend: bigint, divisor: bigint): bigint {
  return -floorDivide(-dividend, divisor);
}

/** Rounds to the nearest, half up. */
export function roundDivide(dividend: bigint, divisor: bigint): bigint {
  return floorDivide(2n * dividend + divisor, 2n * divisor);
}

/**
 * Divides every number and rounds the quotients so that they sum to the total (largest remainder method): all are
 * rounded down, then the largest fractional parts get one more each. If the floors sum to more than the total, which
 * happens when the dividends were rounded down before, the smallest fractional parts get one less each. Of equal
 * fractional parts the earlier is first. Dividends of 0 get no correction unless all are 0. Throws PoolBroken when the
 * total is not the sum of the parts.
 */
export function divideToSum(dividends: readonly bigint[], divisor: bigint, total: bigint): bigint[] {
  const quotients = dividends.map((dividend) => floorDivide(dividend, divisor));
  const missing = total - sumOf(quotients);
  if (missing === 0n) return quotients;
  const order = byFraction(dividends, quotients, divisor);
  if (missing < 0n) order.sort((left, right) => compare(left.fraction, right.fraction));
  else order.sort((left, right) => compare(right.fraction, left.fraction));
  const unit = missing < 0n ? -1n : 1n;
  const count = Number(missing * unit);
  if (count > 2 * order.length) throw new PoolBroken("The parts are not parts of their total.");
  for (let turn = 0; turn < count; turn += 1) {
    const { index = 0 } = order[turn % order.length] ?? {};
    quotients[index] = (quotients[index] ?? 0n) + unit;
  }
  return quotients;
}

export function sumOf(numbers: Iterable<bigint>): bigint {
  let sum = 0n;
  for (const number of numbers) sum += number;
  return sum;
}

type Fraction = { readonly index: number; readonly fraction: bigint };

function byFraction(dividends: readonly bigint[], quotients: readonly bigint[], divisor: bigint): Fraction[] {
  const all = dividends.map((dividend, index) => ({ index, fraction: dividend - (quotients[index] ?? 0n) * divisor }));
  const some = all.filter(({ index }) => dividends[index] !== 0n);
  return some.length === 0 ? all : some;
}

function compare(left: bigint, right: bigint): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** Units of 1e-8 USD in a cent. */
const CENT = 1_000_000n;

/**
 * The sum of the results that each holding gets by its weight, to the cent: the carry of each rounding is part of the next
 * one. For a pool without flows and open positions; written without the code under test.
 */
export function allocateResults(results: readonly bigint[], weights: readonly bigint[]): bigint[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0n);
  let carries = weights.map(() => 0n);
  let gained = weights.map(() => 0n);
  for (const result of results) {
    const parts = roundToSum(
      weights.map((weight) => [result * CENT * weight, total]),
      result * CENT,
    );
    const due = parts.map((part, index) => part + (carries[index] ?? 0n));
    const paid = roundToSum(
      due.map((amount) => [amount, CENT]),
      result,
    );
    carries = due.map((amount, index) => amount - (paid[index] ?? 0n) * CENT);
    gained = gained.map((amount, index) => amount + (paid[index] ?? 0n));
  }
  return gained;
}

/** Rounds down, then adds one missing unit each to the largest remainders; the first of equal remainders wins. */
function roundToSum(fractions: readonly (readonly [bigint, bigint])[], sum: bigint): bigint[] {
  const floors = fractions.map(([numerator, denominator]) => floorDivide(numerator, denominator));
  const rests = fractions.map(([numerator, denominator], index) => numerator - (floors[index] ?? 0n) * denominator);
  const missing = Number(sum - floors.reduce((all, floor) => all + floor, 0n));
  const roundedUp = rests
    .map((rest, index) => ({ rest, index }))
    .toSorted((one, other) => (one.rest === other.rest ? one.index - other.index : one.rest < other.rest ? 1 : -1))
    .slice(0, missing)
    .map(({ index }) => index);
  return floors.map((floor, index) => (roundedUp.includes(index) ? floor + 1n : floor));
}

function floorDivide(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator;
  return numerator % denominator < 0n ? quotient - 1n : quotient;
}

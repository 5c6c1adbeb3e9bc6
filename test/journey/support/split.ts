/** Units of 1e-8 USD in a cent. */
const CENT = 1_000_000n;

/**
 * What each holding gets of results by its weight, to the cent and after any number of results: the carry of each rounding
 * is part of the next one. For a pool without flows and without positions, straight from the rules.
 */
export function splitResults(results: readonly bigint[], weights: readonly bigint[]): bigint[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0n);
  let carries = weights.map(() => 0n);
  let gained = weights.map(() => 0n);
  for (const result of results) {
    const parts = roundToSum(
      weights.map((weight) => [result * CENT * weight, total]),
      result * CENT,
    );
    const due = parts.map((part, holding) => part + (carries[holding] ?? 0n));
    const paid = roundToSum(
      due.map((amount) => [amount, CENT]),
      result,
    );
    carries = due.map((amount, holding) => amount - (paid[holding] ?? 0n) * CENT);
    gained = gained.map((amount, holding) => amount + (paid[holding] ?? 0n));
  }
  return gained;
}

/** Floors, then the missing units one each to the largest fractions; of equal ones to the first. */
function roundToSum(fractions: readonly (readonly [bigint, bigint])[], sum: bigint): bigint[] {
  const floors = fractions.map(([numerator, denominator]) => floorDivide(numerator, denominator));
  const rests = fractions.map(([numerator, denominator], holding) => numerator - (floors[holding] ?? 0n) * denominator);
  const missing = Number(sum - floors.reduce((all, floor) => all + floor, 0n));
  const lucky = rests
    .map((rest, holding) => ({ rest, holding }))
    .toSorted((one, other) => (one.rest === other.rest ? one.holding - other.holding : one.rest < other.rest ? 1 : -1))
    .slice(0, missing)
    .map(({ holding }) => holding);
  return floors.map((floor, holding) => (lucky.includes(holding) ? floor + 1n : floor));
}

function floorDivide(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator;
  return numerator % denominator < 0n ? quotient - 1n : quotient;
}

import { E8_PER_CENT } from "./units.ts";

/** Profit above the high-water mark for which no fee was charged yet. It has the time of earning, and no rate. */
export type Layer = {
  /** Units of 1e-8 USD, positive. */
  readonly amount: bigint;
  /** Time of the Master's deal. */
  readonly earnedAt: Date;
};

/** The result of an Investor with a Master since the first baseline. Deposits and withdrawals are not part of it. */
export type Earnings = {
  /** G: the sum of all results, whole cents. */
  readonly earned: bigint;
  /** H: the high-water mark, units of 1e-8 USD; never falls. */
  readonly mark: bigint;
  /** L: from bottom to top, exactly the interval between H and G. */
  readonly layers: readonly Layer[];
};

/** An Investor's part of one result. */
export type Part = {
  /** Signed, cents. */
  readonly amount: bigint;
  readonly earnedAt: Date;
};

export const NOTHING_EARNED: Earnings = { earned: 0n, mark: 0n, layers: [] };

/** Profit above the mark and the previous result becomes a layer; a loss consumes layers from the top (last in, first out). */
export function earn(earnings: Earnings, parts: readonly Part[]): Earnings {
  const { mark } = earnings;
  const layers = [...earnings.layers];
  let { earned } = earnings;
  for (const { amount, earnedAt } of parts) {
    const before = earned * E8_PER_CENT;
    earned += amount;
    const after = earned * E8_PER_CENT;
    if (amount > 0n) push(layers, { amount: above(after, before > mark ? before : mark), earnedAt });
    else pop(layers, above(before, mark) - above(after, mark));
  }
  return { earned, mark, layers };
}

/** Takes `amount`, or all that there is, from the top of a stack; returns the rest and the part taken. */
export function takeFromTop(layers: readonly Layer[], amount: bigint): { rest: Layer[]; taken: Layer[] } {
  const rest = [...layers];
  return { taken: pop(rest, amount), rest };
}

export function sumOf(layers: readonly Layer[]): bigint {
  return layers.reduce((sum, { amount }) => sum + amount, 0n);
}

/** Profit of one instant is one layer, also when it is allocated in several parts. */
function push(stack: Layer[], layer: Layer): void {
  if (layer.amount === 0n) return;
  const top = stack.at(-1);
  if (top?.earnedAt.getTime() !== layer.earnedAt.getTime()) stack.push(layer);
  else stack[stack.length - 1] = { ...top, amount: top.amount + layer.amount };
}

/** Removes `amount` from the top; returns the removed layers, bottom first. */
function pop(stack: Layer[], amount: bigint): Layer[] {
  const taken: Layer[] = [];
  let missing = amount;
  while (missing > 0n) {
    const top = stack.pop();
    if (top === undefined) break;
    const cut = top.amount < missing ? top.amount : missing;
    if (cut < top.amount) stack.push({ ...top, amount: top.amount - cut });
    taken.push({ ...top, amount: cut });
    missing -= cut;
  }
  return taken.toReversed();
}

function above(value: bigint, level: bigint): bigint {
  return value > level ? value - level : 0n;
}

import { E8_PER_CENT } from "../pool/unit-pool.ts";

/** Profit above the high-water mark for which no fee was charged yet. It has the times of earning, and no rate. */
export type Layer = {
  /** Units of 1e-8 USD, positive. */
  readonly amount: bigint;
  /** Times of the earliest and of the latest of the Master's deals that added to it; no change of the rate lies between them. */
  readonly earnedFrom: Date;
  readonly earnedTo: Date;
};

/** Whether profits of two instants, the earlier one first, may have different rates. */
export type IsSeparated = (from: Date, to: Date) => boolean;

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

/**
 * Profit above the mark and the previous result becomes a layer, or part of the top one when no change of the rate separates the
 * two; a loss consumes layers from the top (last in, first out). The layers follow from all parts and the mark alone.
 */
export function earn(earnings: Earnings, parts: readonly Part[], isSeparated: IsSeparated = differ): Earnings {
  const { mark } = earnings;
  const layers = [...earnings.layers];
  let { earned } = earnings;
  for (const { amount, earnedAt } of parts) {
    const before = earned * E8_PER_CENT;
    earned += amount;
    const after = earned * E8_PER_CENT;
    if (amount > 0n) push(layers, { amount: above(after, before > mark ? before : mark), earnedAt }, isSeparated);
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

/** A deal may be older than the previous one. */
function push(stack: Layer[], { amount, earnedAt }: Part, isSeparated: IsSeparated): void {
  if (amount === 0n) return;
  const top = stack.at(-1);
  const earnedFrom = top !== undefined && top.earnedFrom < earnedAt ? top.earnedFrom : earnedAt;
  const earnedTo = top !== undefined && top.earnedTo > earnedAt ? top.earnedTo : earnedAt;
  if (top === undefined || isSeparated(earnedFrom, earnedTo)) {
    stack.push({ amount, earnedFrom: earnedAt, earnedTo: earnedAt });
  } else stack[stack.length - 1] = { amount: top.amount + amount, earnedFrom, earnedTo };
}

function differ(from: Date, to: Date): boolean {
  return from.getTime() !== to.getTime();
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

export type Range = { readonly from: number; readonly to: number };

/** Shorter tables are drawn whole. */
const WHOLE = 80;
const SPARE = 20;
/** The window moves in steps, so that not every pixel draws it anew. */
const STEP = 10;

/** The rows to draw, so that a list of any length has a small document. */
export function rangeOf(count: number, scrolledPx: number, heightPx: number, rowPx: number): Range {
  if (count <= WHOLE) return { from: 0, to: count };
  const first = Math.floor(scrolledPx / rowPx / STEP) * STEP;
  const shown = Math.ceil(heightPx / rowPx) + STEP;
  return { from: Math.max(0, Math.min(first - SPARE, count - 1)), to: Math.min(count, first + shown + SPARE) };
}

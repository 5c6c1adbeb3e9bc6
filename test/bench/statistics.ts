/** A middle value with the extremes of what it was taken from. */
export type Spread = { readonly median: number; readonly min: number; readonly max: number };

/** The middle value; of an even number of values the mean of the two in the middle. Throws when there is none. */
export function median(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError("there is no median of nothing");
  const sorted = values.toSorted((one, other) => one - other);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? 0;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? 0;
  return (lower + upper) / 2;
}

export function spreadOf(values: readonly number[]): Spread {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) };
}

/** The smallest value that `percent` per cent of all values do not exceed (nearest rank). Throws when there is none. */
export function percentile(values: readonly number[], percent: number): number {
  if (values.length === 0) throw new RangeError("there is no percentile of nothing");
  const sorted = Float64Array.from(values).toSorted();
  const rank = Math.max(1, Math.ceil((percent / 100) * sorted.length));
  return sorted[rank - 1] ?? 0;
}

/** Ratios of measurements that were taken one after the other, pair by pair: a change of the machine affects both. */
export function ratiosOf(values: readonly number[], references: readonly number[]): number[] {
  if (values.length !== references.length) throw new RangeError("each measurement needs its partner");
  return values.map((value, index) => value / (references[index] ?? Number.NaN));
}

/** Change of y per unit of x by least squares; 0 for fewer than two points. */
export function slope(points: readonly { readonly x: number; readonly y: number }[]): number {
  const meanX = mean(points.map(({ x }) => x));
  const meanY = mean(points.map(({ y }) => y));
  const spread = points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
  const together = points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0);
  return spread === 0 ? 0 : together / spread;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

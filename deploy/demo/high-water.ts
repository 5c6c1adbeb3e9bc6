/** A part of a result that reached an Investor, at the time of the Master's deal. Cents. */
export type Earned = { readonly at: number; readonly minor: bigint };
export type RateSince = { readonly at: number; readonly ppm: bigint };

/** Profit above the high-water mark, at one rate. */
export type Profit = { readonly minor: bigint; readonly ppm: bigint };
/** The basis of a charge; no profits and 0 when no fee was due. */
export type Reason = { readonly profits: readonly Profit[]; readonly fee: bigint };

export type History = { readonly results: readonly Earned[]; readonly rates: readonly RateSince[] };

const ONE = 1_000_000n;

/**
 * The fee that an Investor owed at each of these instants, in order. A second implementation of the service's arithmetic,
 * so that the demo checks and explains fees from results and rates alone.
 */
export function reasonsFor({ results, rates }: History, instants: readonly number[]): Reason[] {
  let total = 0n;
  let mark = 0n;
  let layers: Profit[] = [];
  let next = 0;
  return instants.map((instant) => {
    for (; next < results.length; next += 1) {
      const result = results[next];
      if (result === undefined || result.at >= instant) break;
      const above = total + result.minor - (total > mark ? total : mark);
      total += result.minor;
      layers =
        above > 0n ? [...layers, { minor: above, ppm: rateAt(rates, result.at) }] : reduceTo(layers, total - mark);
    }
    const fee = layers.reduce((sum, { minor, ppm }) => sum + minor * ppm, 0n) / ONE;
    if (fee === 0n) return { profits: [], fee };
    const profits = merge(layers);
    layers = [];
    mark = total;
    return { profits, fee };
  });
}

/** Reduces the layers to this total: a loss takes the latest profit first. */
function reduceTo(layers: readonly Profit[], total: bigint): Profit[] {
  const kept: Profit[] = [];
  let remaining = total;
  for (const layer of layers) {
    if (remaining <= 0n) break;
    kept.push({ ...layer, minor: layer.minor < remaining ? layer.minor : remaining });
    remaining -= layer.minor;
  }
  return kept;
}

function merge(layers: readonly Profit[]): Profit[] {
  const sums = new Map<bigint, bigint>();
  for (const { minor, ppm } of layers) sums.set(ppm, (sums.get(ppm) ?? 0n) + minor);
  return [...sums].map(([ppm, minor]) => ({ minor, ppm }));
}

function rateAt(rates: readonly RateSince[], at: number): bigint {
  return rates.findLast((rate) => rate.at <= at)?.ppm ?? 0n;
}
